// Joints of the skeleton as the payload tells them: body/payload.py. All is told beside the instance's way.

// The upper three rows of I − M.
struct Rows {
    x: vec4f,
    y: vec4f,
    z: vec4f,
}

fn payload_row(at: u32) -> vec4f {
    return vec4f(payload[at], payload[at + 1u], payload[at + 2u], payload[at + 3u]);
}

fn skeleton_rows(instance: u32, joint: u32) -> Rows {
    let at = instance * plan.payload_stride + PAYLOAD_HEAD + MOVED * joint;
    return Rows(payload_row(at), payload_row(at + 4u), payload_row(at + 8u));
}

fn posed_rows(at: u32) -> Rows {
    return Rows(posed[at], posed[at + 1u], posed[at + 2u]);
}

// Bulge and gain of a muscle.
fn told_of_muscle(instance: u32, muscle: u32) -> vec2f {
    let at = instance * plan.payload_stride + PAYLOAD_HEAD + MOVED * plan.joint_count + 2u * muscle;
    return vec2f(payload[at], payload[at + 1u]);
}

// What (I − M) takes off a point.
fn taken_off(m: Rows, p: vec3f) -> vec3f {
    return vec3f(
        fma(m.x.x, p.x, fma(m.x.y, p.y, fma(m.x.z, p.z, m.x.w))),
        fma(m.y.x, p.x, fma(m.y.y, p.y, fma(m.y.z, p.z, m.y.w))),
        fma(m.z.x, p.x, fma(m.z.y, p.y, fma(m.z.z, p.z, m.z.w))),
    );
}
