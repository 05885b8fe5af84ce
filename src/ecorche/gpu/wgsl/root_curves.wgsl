// A thread drawn tight from origin to insertion, over a sphere or ball or round a cylinder: muscles/wrapping.py.

struct RootCurve {
    origin: vec3f,
    insertion: vec3f,
    centre: vec3f,
    outwards: vec3f,
    onwards: vec3f,
    axis: vec3f,
    before: vec3f,
    after: vec3f,
    radius: f32,
    rise: f32,
    angle: f32,
    speed: f32,
    first: f32,
    wrapped: f32,
    chord: f32,
    length: f32,
    share: f32,
}

struct Circle {
    centre: vec3f,
    normal: vec3f,
    radius: f32,
    counts: f32,
}

fn step_of(value: f32) -> f32 {
    let x = clamp(value, 0.0, 1.0);
    return x * x * (3.0 - 2.0 * x);
}

// How far to tilt from the axis' plane, for the plane of the centre tilted by psi.
fn upright_tilt(shape: u32, psi: f32) -> f32 {
    let size = abs(psi);
    var tilt = size;
    if size > THIRD {
        if shape == BALL {
            let x = min(size / THIRD - 1.0, 1.0);
            tilt = (1.0 + x * (1.0 + x * (3.0 * x - 5.0))) * THIRD;
        } else if size > 2.0 * THIRD {
            tilt = size - PI;
        } else {
            let x = (size - 0.5 * PI) * (6.0 / PI);
            tilt = (0.25 * (x * x) - 7.0 / 12.0) * x * PI;
        }
    }
    return select(tilt, -tilt, psi < 0.0);
}

// The circle on a sphere that is gone round, and how much it counts.
fn circle_on_sphere(
    shape: u32, origin: vec3f, chord: vec3f, distance: f32, centre: vec3f, axis: vec3f, radius: f32
) -> Circle {
    let t = one_over(distance, TINY, 0.0) * chord;
    var upright = axis - dot(axis, t) * t;
    let lean = sqrt(dot(upright, upright));
    upright = one_over(lean, LEAST_LEAN, 0.0) * upright;
    var counts = select(0.0, step_of(lean / SINE_OF_FADE), lean > LEAST_LEAN && distance > TINY);
    var away = centre - origin;
    away = away - dot(away, t) * t;
    let off = sqrt(dot(away, away));
    // the normal of the plane that holds the centre
    let plane = cross(t, one_over(off, TINY, 0.0) * away);
    let cosine = dot(plane, upright);
    let squarely = select(cosine, abs(cosine), shape == SPHERE);
    if off > 0.5 * radius && squarely > 0.5 {
        return Circle(centre, select(-plane, plane, cosine > 0.0), radius, counts);
    }
    let sideways = cross(t, upright);
    let tilt = step_of(2.0 * off / radius) * upright_tilt(shape, angle_of(dot(plane, sideways), cosine));
    let by = sine_cosine(tilt);
    let tilted = by.cosine * upright + by.sine * sideways;
    let height = dot(away, tilted);
    let inner = sqrt(max(radius * radius - height * height, 0.0));
    counts *= step_of(2.0 * inner / radius);
    if shape == BALL && inner > 0.0 {
        counts *= step_of(1.0 + 2.0 * off * dot(plane, tilted) / inner);
    }
    return Circle(centre - height * tilted, tilted, inner, counts);
}

fn wrap(
    shape: u32,
    origin: vec3f,
    insertion: vec3f,
    centre: vec3f,
    axis: vec3f,
    bind_chord: vec3f,
    radius: f32,
    at_bind: f32,
) -> RootCurve {
    var curve: RootCurve;
    let chord = insertion - origin;
    let straight = sqrt(dot(chord, chord));
    curve.origin = origin;
    curve.insertion = insertion;
    curve.chord = straight;
    curve.length = straight;
    if shape == STRAIGHT {
        return curve;
    }
    var circle = Circle(centre, axis, radius, 1.0);
    if shape == BALL {
        // where the line of the ends takes the axis, and how much that counts: nothing with the line reversed
        let now = one_over(straight, 0.0, 1.0) * chord;
        let along_line = turned(bind_chord, now, axis);
        circle = circle_on_sphere(shape, origin, chord, straight, centre, along_line, radius);
        circle.counts *= step_of((1.0 + dot(bind_chord, now)) / BACK);
    } else if shape == SPHERE {
        circle = circle_on_sphere(shape, origin, chord, straight, centre, axis, radius);
    }
    let normal = circle.normal;
    var a = origin - circle.centre;
    var b = insertion - circle.centre;
    let low = dot(a, normal);
    let high = dot(b, normal);
    a = a - low * normal;
    b = b - high * normal;
    let far_a = sqrt(dot(a, a));
    let far_b = sqrt(dot(b, b));
    let r = min(circle.radius, min(far_a, far_b));
    var phi = angle_of(dot(cross(a, b), normal), dot(a, b));
    phi = phi + TURN * round((at_bind - phi) / TURN);
    // as products: exactly zero of an end on the circle
    let before = sqrt(max((far_a - r) * (far_a + r), 0.0));
    let after = sqrt(max((far_b - r) * (far_b + r), 0.0));
    // δ₁ + δ₂ at once
    let angle = phi - angle_of(r * (before + after), r * r - before * after);
    let counts = circle.counts * step_of((PI - abs(phi - at_bind)) / FADE);
    if !(r > TINY && phi > 0.0 && angle > 0.0 && counts > 0.0) {
        return curve;
    }
    let flat = before + r * angle + after;
    let climb = (high - low) / flat;
    let slope = sqrt(1.0 + climb * climb);
    let outwards = (r * a + before * cross(normal, a)) / dot(a, a);
    let inwards = (r * b - after * cross(normal, b)) / dot(b, b);
    curve.onwards = cross(normal, outwards);
    curve.before = (curve.onwards + climb * normal) / slope;
    curve.after = (cross(normal, inwards) + climb * normal) / slope;
    curve.centre = circle.centre + (low + climb * before) * normal;
    curve.outwards = outwards;
    curve.axis = normal;
    curve.radius = r;
    curve.rise = climb * r;
    curve.angle = angle;
    curve.speed = r * slope;
    curve.first = before * slope;
    curve.wrapped = flat * slope;
    curve.share = counts;
    curve.length = straight + counts * (curve.wrapped - straight);
    return curve;
}

struct CurvePlace {
    point: vec3f,
    tangent: vec3f,
}

// Where a curve is at a share of its length from the origin, 0 to 1.
fn along_curve(curve: RootCurve, share: f32) -> CurvePlace {
    let chord = curve.insertion - curve.origin;
    let straight = CurvePlace(curve.origin + share * chord, one_over(curve.chord, 0.0, 1.0) * chord);
    if !(curve.share > 0.0) {
        return straight;
    }
    let done = share * curve.wrapped;
    let onto = done - curve.first;
    var place = CurvePlace(curve.origin + done * curve.before, curve.before);
    if onto > curve.speed * curve.angle {
        place = CurvePlace(curve.insertion + (done - curve.wrapped) * curve.after, curve.after);
    } else if onto > 0.0 {
        let theta = onto / curve.speed;
        let by = sine_cosine(theta);
        let across = curve.radius * by.cosine;
        let onwards = curve.radius * by.sine;
        place.point = curve.centre + (curve.rise * theta) * curve.axis;
        place.point += across * curve.outwards + onwards * curve.onwards;
        place.tangent = across * curve.onwards - onwards * curve.outwards + curve.rise * curve.axis;
        place.tangent = place.tangent / curve.speed;
    }
    let rest = 1.0 - curve.share;
    if rest > 0.0 {
        place.point = curve.share * place.point + rest * straight.point;
        place.tangent = unit((curve.share * curve.wrapped) * place.tangent + rest * chord);
    }
    return place;
}
