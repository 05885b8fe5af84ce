// Sine, cosine and arc tangent as in base/quad_angles.py: what WGSL has built in may be 2^-11 off.

struct SineCosine {
    sine: f32,
    cosine: f32,
}

fn sine_cosine(angle: f32) -> SineCosine {
    let half_turns = round(angle * HALF_TURNS);
    let x = (angle - half_turns * PI_FIRST) - half_turns * PI_REST;
    let odd = half_turns - 2.0 * round(0.5 * half_turns);
    let sign = 1.0 - 2.0 * (odd * odd);
    let z = x * x;
    let s = ((SINE_3 * z + SINE_2) * z + SINE_1) * z + SINE_0;
    let c = (((COSINE_4 * z + COSINE_3) * z + COSINE_2) * z + COSINE_1) * z + COSINE_0;
    return SineCosine(sign * (x + x * (z * s)), sign * (1.0 + z * c));
}

// Of a direction (x, y) from the first axis, −π to π; 0 where there is none.
fn angle_of(y: f32, x: f32) -> f32 {
    let high = abs(y);
    let wide = abs(x);
    let less = min(high, wide);
    let more = max(high, wide);
    // within an eighth of a turn of the nearer axis; beyond half of that, from 45°
    let beyond = less > TAN_EIGHTH * more;
    let over = select(less, less - more, beyond);
    let under = select(more, less + more, beyond);
    let t = over * one_over(under, 0.0, 1.0);
    let z = t * t;
    let p = (((ANGLE_4 * z + ANGLE_3) * z + ANGLE_2) * z + ANGLE_1) * z + ANGLE_0;
    var angle = t + t * (z * p);
    angle = select(angle, 0.25 * PI + angle, beyond);
    angle = select(angle, 0.5 * PI - angle, high > wide);
    angle = select(angle, PI - angle, x < 0.0);
    return select(angle, -angle, y < 0.0);
}
