// Numbers and vectors: see muscles/triples.py.

fn one_over(a: f32, least: f32, otherwise: f32) -> f32 {
    if a > least {
        return 1.0 / a;
    }
    return otherwise;
}

fn unit(a: vec3f) -> vec3f {
    return one_over(sqrt(dot(a, a)), 0.0, 1.0) * a;
}

// A vector across unit a, taken along by the smallest rotation from a to unit b.
fn turned(a: vec3f, b: vec3f, across: vec3f) -> vec3f {
    let cosine = 1.0 + dot(a, b);
    if !(cosine > REVERSED) {
        return across;
    }
    return across - (dot(across, b - a) / cosine) * (a + b);
}
