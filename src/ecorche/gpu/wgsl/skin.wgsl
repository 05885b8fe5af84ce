// Skin on joints, sliding over muscles (skin/linear.py, skin/sliding_groups.py), and what is worn over it
// (skin/delta_transfer.py).

@group(0) @binding(0) var<uniform> plan: Plan;
@group(0) @binding(1) var<uniform> run: Run;
@group(0) @binding(2) var<storage, read> payload: array<f32>;
@group(0) @binding(3) var<storage, read> skin_names: array<u32>;
@group(0) @binding(4) var<storage, read> skin_numbers: array<f32>;
@group(0) @binding(5) var<storage, read> posed: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> rest: array<f32>;
@group(0) @binding(7) var<storage, read_write> points: array<f32>;
@group(0) @binding(8) var<storage, read_write> deltas: array<f32>;

fn way_of(instance: u32) -> vec3f {
    let at = instance * plan.payload_stride;
    return vec3f(payload[at], payload[at + 1u], payload[at + 2u]);
}

fn skin_vector(at: u32) -> vec3f {
    return vec3f(skin_numbers[at], skin_numbers[at + 1u], skin_numbers[at + 2u]);
}

// By how much joints and muscle joints move a vertex, with the sign turned.
fn skinned_off(instance: u32, vertex: u32, p: vec3f) -> vec3f {
    let muscle_joints = instance * plan.posed_stride + plan.at_muscle_joints;
    var sum = vec3f(0.0);
    let end = skin_names[plan.weight_starts + vertex + 1u];
    for (var entry = skin_names[plan.weight_starts + vertex]; entry < end; entry++) {
        let joint = skin_names[plan.weight_joints + entry];
        var m: Rows;
        if joint < plan.joint_count {
            m = skeleton_rows(instance, joint);
        } else {
            m = posed_rows(muscle_joints + 3u * (joint - plan.joint_count));
        }
        sum += skin_numbers[plan.weights + entry] * taken_off(m, p);
    }
    return sum;
}

// t held within 0 … 1, with a parabola at either end.
fn soft_clamp(value: f32) -> f32 {
    let t = clamp(value, -ENDS, 1.0 + ENDS);
    let before = max(ENDS - t, 0.0);
    let after = max(t - (1.0 - ENDS), 0.0);
    return t + (before * before - after * after) * (0.25 / ENDS);
}

// A curve of seven numbers, m below and p above the belly.
fn curve_at(below: vec4f, above: vec3f, m: f32, p: f32) -> f32 {
    return m * (m * (m * below.w + below.z) + below.y) + (p * (p * (p * above.z + above.y) + above.x) + below.x);
}

fn sweep_at(at: u32, m: f32, p: f32) -> f32 {
    return curve_at(vec4f(skin_numbers[at], skin_vector(at + 1u)), skin_vector(at + 4u), m, p);
}

// Where a vertex is in the section through it, before the sweep.
struct SectionPlace {
    t: f32,
    v: f32,
    a: f32,
    out: vec3f,
}

fn straight_place(spindle: u32, p: vec3f) -> SectionPlace {
    let out = posed[spindle + SPINDLE_OUT].xyz;
    let came = p - posed[spindle + SPINDLE_ORIGIN].xyz;
    return SectionPlace(
        dot(came, posed[spindle + SPINDLE_ALONG].xyz),
        dot(came, out),
        dot(came, posed[spindle + SPINDLE_SIDE].xyz),
        out,
    );
}

fn bent_place(stations: u32, spindle: u32, shares: vec2f, p: vec3f) -> SectionPlace {
    let next = stations + STATION_ROWS;
    let foot = shares.x * posed[stations + STATION_POINT] + shares.y * posed[next + STATION_POINT];
    let along = shares.x * posed[stations + STATION_ALONG].xyz + shares.y * posed[next + STATION_ALONG].xyz;
    let out = shares.x * posed[stations + STATION_OUT].xyz + shares.y * posed[next + STATION_OUT].xyz;
    let side = shares.x * posed[stations + STATION_SIDE].xyz + shares.y * posed[next + STATION_SIDE].xyz;
    let came = p - foot.xyz;
    // blended directions are shorter than one, and never zero
    let lengthen = 1.0 / sqrt(max(dot(out, out), SHORT));
    let widen = 1.0 / sqrt(max(dot(side, side), SHORT));
    return SectionPlace(
        foot.w + dot(came, along) * posed[spindle + SPINDLE_OUT].w,
        dot(came, out) * lengthen,
        dot(came, side) * widen,
        lengthen * out,
    );
}

// By how much one muscle moves a vertex that joints have brought to p, with the sign turned.
fn slid_off(instance: u32, entry: u32, p: vec3f) -> vec3f {
    let state = instance * plan.posed_stride;
    let muscle = skin_names[plan.sliding_muscles + entry];
    let station = skin_names[plan.sliding_stations + entry];
    let spindle = state + plan.at_spindles + SPINDLE_ROWS * muscle;
    let kept = plan.sliding_kept + SLIDING_KEPT * entry;
    var place: SectionPlace;
    if station == NO_STATION {
        place = straight_place(spindle, p);
    } else {
        let shares = plan.sliding_shares + 2u * entry;
        let share = vec2f(skin_numbers[shares], skin_numbers[shares + 1u]);
        place = bent_place(state + plan.at_stations + STATION_ROWS * station, spindle, share, p);
    }
    // how thick the muscle is there; v and a from the swept centre, by the share κ, a in half-widths
    let follow = skin_numbers[kept + FOLLOW];
    let sweep = plan.sweeps + SWEEP_COLUMNS * muscle;
    let d = soft_clamp(place.t * follow + skin_numbers[kept + STAY_T]) - skin_numbers[sweep + SWEEP_BELLY];
    let m = min(d, 0.0);
    let above = max(d, 0.0);
    let thickness = max(
        curve_at(posed[spindle + SPINDLE_BELOW], posed[spindle + SPINDLE_ABOVE].xyz, m, above), THINNEST_SECTION
    );
    let v = (place.v - sweep_at(sweep + SWEEP_OUT, m, above)) * follow;
    let across = (place.a - sweep_at(sweep + SWEEP_SIDE, m, above)) * follow + skin_numbers[kept + STAY_A];
    let a = across * posed[spindle + SPINDLE_ORIGIN].w / thickness;
    let half_axis = thickness * posed[spindle + SPINDLE_ALONG].w;
    // the muscle's height, and how far it is from the skin
    let inside = 1.0 - a * a;
    let s = max(inside + 3.0 * RIM, 0.0) * (0.25 / RIM);
    let root = select(sqrt(max(inside, 0.0)), s * s * ROOT_RIM, s < 1.0);
    let apart = half_axis * root * skin_numbers[kept + MINUS_SIGMA] + v;
    if run.learn != 0u {
        rest[entry] = apart;
        return vec3f(0.0);
    }
    // outwards, which is negative here, up to the limit; inwards skin bridges a hollow sooner
    let far = (apart - rest[entry]) * skin_numbers[kept + LIMIT];
    let off = select(min(far / BRIDGED, 1.0), max(far, -1.0), far < 0.0);
    let cubic = off - off * off * off / 3.0;
    let push = skin_numbers[kept + PUSH] * posed[spindle + SPINDLE_SIDE].w;
    return (select(cubic * BRIDGED, cubic, far < 0.0) * push) * place.out;
}

@compute @workgroup_size(WORKGROUP)
fn move_skin(@builtin(global_invocation_id) id: vec3u) {
    let vertex = id.x;
    let instance = id.y;
    if vertex >= plan.vertex_count {
        return;
    }
    let bind = skin_vector(plan.bind_points + 3u * vertex);
    var p = bind - skinned_off(instance, vertex, bind);
    var off = vec3f(0.0);
    let end = skin_names[plan.sliding_starts + vertex + 1u];
    for (var entry = skin_names[plan.sliding_starts + vertex]; entry < end; entry++) {
        off += slid_off(instance, entry, p);
    }
    let slid = p - off;
    let at = 3u * (instance * plan.vertex_count + vertex);
    if plan.worn_count > 0u {
        deltas[at] = slid.x - p.x;
        deltas[at + 1u] = slid.y - p.y;
        deltas[at + 2u] = slid.z - p.z;
    }
    p = slid;
    let wears = skin_names[plan.worn_starts + vertex] != skin_names[plan.worn_starts + vertex + 1u];
    let has_joints = skin_names[plan.weight_starts + vertex] != skin_names[plan.weight_starts + vertex + 1u];
    // what is worn gets its way later; subtracted, so that a coordinate of minus zero keeps its sign at bind
    if has_joints && !wears {
        p = p - (0.0 - way_of(instance));
    }
    points[at] = p.x;
    points[at + 1u] = p.y;
    points[at + 2u] = p.z;
}

@compute @workgroup_size(WORKGROUP)
fn move_worn(@builtin(global_invocation_id) id: vec3u) {
    let instance = id.y;
    if id.x >= plan.worn_count {
        return;
    }
    let vertex = skin_names[plan.worn + id.x];
    var off = vec3f(0.0);
    let end = skin_names[plan.worn_starts + vertex + 1u];
    for (var entry = skin_names[plan.worn_starts + vertex]; entry < end; entry++) {
        let below = 3u * (instance * plan.vertex_count + skin_names[plan.worn_vertices + entry]);
        let delta = vec3f(deltas[below], deltas[below + 1u], deltas[below + 2u]);
        off -= skin_numbers[plan.worn_parts + entry] * delta;
    }
    let at = 3u * (instance * plan.vertex_count + vertex);
    var p = vec3f(points[at], points[at + 1u], points[at + 2u]) - off;
    if skin_names[plan.weight_starts + vertex] != skin_names[plan.weight_starts + vertex + 1u] {
        p = p - (0.0 - way_of(instance));
    }
    points[at] = p.x;
    points[at + 1u] = p.y;
    points[at + 2u] = p.z;
}
