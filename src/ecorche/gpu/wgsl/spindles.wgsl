// Muscles that the skin slides over: nodes of their paths, length, belly and frame (muscles/posing.py,
// muscles/posed_nodes.py), and the stations of bent ones (muscles/posed_stations.py).

// Nodes, segments and corners of one path; its length.
fn pose_path(instance: u32, first: u32, last: u32) -> f32 {
    let nodes = instance * plan.posed_stride + plan.at_nodes;
    var whole = 0.0;
    var before = vec3f(0.0);
    for (var n = first; n <= last; n++) {
        let joint = names[plan.node_joints + n];
        let point = moved(rows_of(instance, joint), number_vector(plan.node_points + 3u * n));
        if n > first {
            let step = point - before;
            let length = sqrt(dot(step, step));
            whole += length;
            posed[nodes + NODE_ROWS * n + NODE_SEGMENT] = vec4f(one_over(length, 0.0, 0.0) * step, length);
        }
        posed[nodes + NODE_ROWS * n + NODE_POINT] = vec4f(point, whole);
        before = point;
    }
    // an end of the path is no corner
    posed[nodes + NODE_ROWS * first + NODE_BEND] = vec4f(0.0);
    posed[nodes + NODE_ROWS * last + NODE_BEND] = vec4f(0.0);
    for (var n = first + 1u; n < last; n++) {
        let ending = posed[nodes + NODE_ROWS * n + NODE_SEGMENT];
        let after = posed[nodes + NODE_ROWS * (n + 1u) + NODE_SEGMENT];
        let reach = plan.rounding * ending.w * after.w * one_over(ending.w + after.w, 0.0, 0.0);
        posed[nodes + NODE_ROWS * n + NODE_BEND] = vec4f(after.xyz - ending.xyz, reach);
    }
    return whole;
}

// The change of the belly that keeps its volume: muscles/volume.py.
fn belly_change(constants: u32, whole: f32) -> f32 {
    let square = numbers[constants + RULE];
    let gradient = numbers[constants + RULE + 1u];
    let thinnest = numbers[constants + RULE + 3u];
    let excess = numbers[constants + RULE + 2u] * (1.0 - numbers[constants + RULE + 4u] / whole);
    if excess + thinnest * (gradient + square * thinnest) > 0.0 {
        return thinnest;
    }
    let root = sqrt(max(gradient * gradient - 4.0 * square * excess, 0.0));
    return max(-2.0 * excess / (gradient + root), thinnest);
}

// S_d of a straight muscle along which its chord points now.
fn section_out(instance: u32, constants: u32, first: u32, last: u32, along: vec3f) -> vec3f {
    let bind_along = number_vector(constants + CHORD);
    let bind_out = number_vector(constants + BIND_OUT);
    let weight = numbers[constants + WEIGHT];
    var turn = turn_of(rows_of(instance, names[plan.node_joints + first]));
    var out = turned(turn * bind_along, along, turn * bind_out);
    if weight > 0.0 {
        turn = turn_of(rows_of(instance, names[plan.node_joints + last]));
        let other = turned(turn * bind_along, along, turn * bind_out);
        let side = cross(along, out);
        let by = sine_cosine(weight * angle_of(dot(side, other), dot(out, other)));
        out = by.cosine * out + by.sine * side;
    }
    return out;
}

@compute @workgroup_size(WORKGROUP)
fn pose_spindles(@builtin(global_invocation_id) id: vec3u) {
    let instance = id.y;
    if id.x >= plan.read_count {
        return;
    }
    let muscle = names[plan.read_muscles + id.x];
    let first = names[plan.node_starts + id.x];
    let last = names[plan.node_starts + id.x + 1u] - 1u;
    let constants = plan.muscle_constants + MUSCLE_CONSTANTS * muscle;
    let whole = pose_path(instance, first, last);
    let over = one_over(whole, 0.0, 0.0);
    let change = belly_change(constants, whole);
    let told = told_of_muscle(instance, muscle);

    let nodes = instance * plan.posed_stride + plan.at_nodes;
    let origin = posed[nodes + NODE_ROWS * first + NODE_POINT].xyz;
    let along = unit(posed[nodes + NODE_ROWS * last + NODE_POINT].xyz - origin);
    let out = section_out(instance, constants, first, last, along);
    let at = instance * plan.posed_stride + plan.at_spindles + SPINDLE_ROWS * muscle;
    posed[at + SPINDLE_ORIGIN] = vec4f(origin, told.x);
    posed[at + SPINDLE_ALONG] = vec4f(over * along, numbers[constants + SCALE] * told.x);
    posed[at + SPINDLE_OUT] = vec4f(out, over);
    posed[at + SPINDLE_SIDE] = vec4f(cross(along, out), told.y);
    // the curve of C_T: its value at the belly, then what is added below and above
    var curve: array<f32, 8>;
    for (var k = 0u; k < 7u; k++) {
        curve[k] = numbers[constants + CURVE + k] + change * numbers[constants + CURVE_CHANGE + k];
    }
    posed[at + SPINDLE_BELOW] = vec4f(curve[0], curve[1], curve[2], curve[3]);
    posed[at + SPINDLE_ABOVE] = vec4f(curve[4], curve[5], curve[6], 0.0);
}

// S_d as a joint carries it, turned the short way to the path's tangent.
fn carried_out(instance: u32, joint: u32, bind_along: vec3f, bind_out: vec3f, along: vec3f) -> vec3f {
    let turn = turn_of(rows_of(instance, joint));
    return turned(turn * bind_along, along, turn * bind_out);
}

@compute @workgroup_size(WORKGROUP)
fn pose_stations(@builtin(global_invocation_id) id: vec3u) {
    let instance = id.y;
    if id.x >= plan.station_count {
        return;
    }
    let named = plan.station_named + STATION_NAMED * id.x;
    let kept = plan.station_kept + STATION_KEPT * id.x;
    let state = instance * plan.posed_stride;
    let node = state + plan.at_nodes + NODE_ROWS * names[named + NODE];
    let end = posed[node + NODE_POINT];
    let segment = posed[node + NODE_SEGMENT];
    let bend = posed[state + plan.at_nodes + NODE_ROWS * names[named + NEAR] + NODE_BEND];
    let muscle = names[plan.read_muscles + names[named + OWNER]];
    let over = posed[state + plan.at_spindles + SPINDLE_ROWS * muscle + SPINDLE_OUT].w;

    // how far it is from the nearer node, and on which side of it
    let share = numbers[kept + SHARE];
    let rest = 1.0 - share;
    let left = rest * segment.w;
    let nearer = share < 0.5;
    let within = max(bend.w - select(rest, share, nearer) * segment.w, 0.0);
    let part = within * one_over(bend.w + bend.w, 0.0, 0.0);
    let point = end.xyz - left * segment.xyz + (0.5 * part * within) * bend.xyz;
    let along = unit(segment.xyz + select(part, -part, nearer) * bend.xyz);

    let bind_along = number_vector(kept + TANGENT);
    let bind_out = number_vector(kept + ACROSS);
    let joint_before = names[named + JOINT_BEFORE];
    let joint = names[named + JOINT];
    var out = carried_out(instance, joint_before, bind_along, bind_out, along);
    if joint != joint_before {
        out = unit(rest * out + share * carried_out(instance, joint, bind_along, bind_out, along));
    }
    let at = state + plan.at_stations + STATION_ROWS * names[named + ROW];
    posed[at + STATION_POINT] = vec4f(point, (end.w - left) * over);
    posed[at + STATION_ALONG] = vec4f(along, 0.0);
    posed[at + STATION_OUT] = vec4f(out, 0.0);
    posed[at + STATION_SIDE] = vec4f(cross(along, out), 0.0);
}
