// Muscles found in the skin as joints: muscles/root_curves.py, muscles/loft_joints.py, muscles/loft_plan.py.

fn carried_axis(m: Rows, a: vec3f) -> vec3f {
    return unit(a - vec3f(dot(m.x.xyz, a), dot(m.y.xyz, a), dot(m.z.xyz, a)));
}

fn posed_curve(instance: u32, muscle: u32) -> RootCurve {
    let named = plan.curve_named + CURVE_NAMED * muscle;
    let kept = plan.curve_kept + CURVE_KEPT * muscle;
    let obstacle = skeleton_rows(instance, names[named + CURVE_OF_OBSTACLE]);
    return wrap(
        names[named + CURVE_SHAPE],
        moved(skeleton_rows(instance, names[named + CURVE_OF_ORIGIN]), number_vector(kept + CURVE_ORIGIN)),
        moved(skeleton_rows(instance, names[named + CURVE_OF_INSERTION]), number_vector(kept + CURVE_INSERTION)),
        moved(obstacle, number_vector(kept + CURVE_CENTRE)),
        carried_axis(obstacle, number_vector(kept + CURVE_AXIS)),
        carried_axis(obstacle, number_vector(kept + CURVE_CHORD)),
        numbers[kept + CURVE_RADIUS],
        numbers[kept + CURVE_AT_BIND],
    );
}

// κ of a muscle: muscles/loft.py.
fn swelling(kept: u32, shortening: f32) -> f32 {
    let m = number_vector(kept + SHAPE_MOMENTS);
    let missing = m.x * (1.0 - min(shortening, MOST_SHORTENED));
    let square = m.y * m.y - m.z * missing;
    if !(square > 0.0) {
        return THINNEST;
    }
    return max(-missing / (m.y + sqrt(square)), THINNEST);
}

// A section's area at a share of the length, as a share of the largest.
fn area_at(muscle: u32, first_piece: u32, share: f32) -> f32 {
    var piece = first_piece;
    for (var border = 0u; border < plan.border_count; border++) {
        if share > numbers[plan.knots + plan.border_count * muscle + border] {
            piece++;
        }
    }
    let at = plan.pieces + PIECE_COLUMNS * piece;
    let x = share - numbers[at + PIECE_KNOT];
    var area = numbers[at + PIECE_AREA + 6u];
    for (var power = 6u; power > 0u; power--) {
        area = numbers[at + PIECE_AREA + power - 1u] + x * area;
    }
    return area;
}

@compute @workgroup_size(WORKGROUP)
fn pose_places(@builtin(global_invocation_id) id: vec3u) {
    let muscle = id.x;
    let instance = id.y;
    if muscle >= plan.found_count {
        return;
    }
    let curve = posed_curve(instance, muscle);
    let kept = plan.of_shapes + SHAPE_KEPT * muscle;
    let at_bind = numbers[kept + SHAPE_AT_BIND];
    let kappa = swelling(kept, at_bind / curve.length);
    let ratio = max(curve.length / at_bind, 0.5);
    let tension = told_of_muscle(instance, plan.spindle_count + muscle).x;
    let gain = numbers[plan.found_gains + muscle];
    for (var number = 0u; number < plan.places_per_muscle; number++) {
        let row = plan.places_per_muscle * muscle + number;
        let place = plan.of_places + PLACE_KEPT * row;
        var share = numbers[place + PLACE_SHARE] + (ratio - 1.0) * numbers[place + PLACE_GIVING];
        share = share / ratio;
        let lies = along_curve(curve, share);
        let area = area_at(muscle, u32(numbers[kept + SHAPE_FIRST_PIECE]), share);
        let factor = 1.0 + kappa * (area * (2.0 - area));
        var outwards = factor * tension;
        var sideways = factor / tension;
        if gain != 1.0 {
            outwards = pow(outwards, gain);
            sideways = pow(sideways, gain);
        }
        let at = instance * plan.posed_stride + plan.at_places + PLACE_ROWS * row;
        posed[at] = vec4f(lies.point, outwards);
        posed[at + 1u] = vec4f(lies.tangent, sideways);
    }
}

// Frames of the muscle joints, dilated. What is subtracted from them at bind is subtracted by
// `pose_muscle_joints`: a product that has been stored is rounded, and is no part of that subtraction.
@compute @workgroup_size(WORKGROUP)
fn pose_frames(@builtin(global_invocation_id) id: vec3u) {
    let joint = id.x;
    let instance = id.y;
    if joint >= plan.muscle_joint_count {
        return;
    }
    let named = plan.joint_named + JOINT_NAMED * joint;
    let row = names[named + JOINT_PLACE];
    let kept = plan.of_joints + JOINT_KEPT * row;
    let carrier = skeleton_rows(instance, names[named + JOINT_CARRIER]);
    let turn = turn_of(carrier);
    let on_limb = moved(carrier, number_vector(kept + JOINT_BIND_POINT));
    let limb_along = turn * number_vector(kept + JOINT_BIND_ALONG);
    let limb_out = turn * number_vector(kept + JOINT_BIND_OUT);
    let follow = numbers[kept + JOINT_FOLLOWING];
    let place = instance * plan.posed_stride + plan.at_places + PLACE_ROWS * row;
    let on_curve = posed[place];
    let onwards = posed[place + 1u];
    var tangent = (1.0 - follow) * limb_along + follow * onwards.xyz;
    let length = sqrt(dot(tangent, tangent));
    // the smallest rotation from the limb's tangent to this one takes its direction along
    let cosine = length + dot(limb_along, tangent);
    let share = dot(limb_out, tangent) * one_over(cosine, REVERSED, 0.0);
    tangent = one_over(length, 0.0, 1.0) * tangent;
    let out = limb_out - share * (limb_along + tangent);
    let side = cross(tangent, out);
    var point = (1.0 - follow) * on_limb + follow * on_curve.xyz;
    point = point + numbers[kept + JOINT_MIDDLE] * out + numbers[kept + JOINT_MIDDLE + 1u] * side;
    let at = instance * plan.posed_stride + plan.at_frames + FRAME_ROWS * joint;
    posed[at + FRAME_POINT] = vec4f(point, 0.0);
    posed[at + FRAME_ALONG] = vec4f(tangent, 0.0);
    posed[at + FRAME_OUT] = vec4f(on_curve.w * out, 0.0);
    posed[at + FRAME_SIDE] = vec4f(onwards.w * side, 0.0);
}

struct BindFrame {
    point: vec3f,
    along: vec3f,
    out: vec3f,
    side: vec3f,
}

// A row of (bind − posed) bind⁻¹, blended with that of the limb.
fn joint_row(off: vec4f, bind: BindFrame, limb: vec4f, gain: f32) -> vec4f {
    let row = off.x * bind.along + off.y * bind.out + off.z * bind.side;
    return gain * vec4f(row, off.w - dot(row, bind.point)) + (1.0 - gain) * limb;
}

@compute @workgroup_size(WORKGROUP)
fn pose_muscle_joints(@builtin(global_invocation_id) id: vec3u) {
    let joint = id.x;
    let instance = id.y;
    if joint >= plan.muscle_joint_count {
        return;
    }
    let named = plan.joint_named + JOINT_NAMED * joint;
    let limb = skeleton_rows(instance, names[named + JOINT_CARRIER]);
    let gain = told_of_muscle(instance, plan.spindle_count + names[named + JOINT_MUSCLE]).y;
    let now = instance * plan.posed_stride + plan.at_frames + FRAME_ROWS * joint;
    let then = FRAME_ROWS * joint;
    let bind = BindFrame(
        bind_frames[then + FRAME_POINT].xyz,
        bind_frames[then + FRAME_ALONG].xyz,
        bind_frames[then + FRAME_OUT].xyz,
        bind_frames[then + FRAME_SIDE].xyz,
    );
    let point = bind.point - posed[now + FRAME_POINT].xyz;
    let along = bind.along - posed[now + FRAME_ALONG].xyz;
    let out = bind.out - posed[now + FRAME_OUT].xyz;
    let side = bind.side - posed[now + FRAME_SIDE].xyz;
    let at = instance * plan.posed_stride + plan.at_muscle_joints + 3u * joint;
    posed[at] = joint_row(vec4f(along.x, out.x, side.x, point.x), bind, limb.x, gain);
    posed[at + 1u] = joint_row(vec4f(along.y, out.y, side.y, point.y), bind, limb.y, gain);
    posed[at + 2u] = joint_row(vec4f(along.z, out.z, side.z, point.z), bind, limb.z, gain);
}
