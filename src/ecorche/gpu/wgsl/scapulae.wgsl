// How far joints have turned, and virtual shoulder blades: muscles/posed_joints.py, muscles/scapula.py.

// The joints that muscles hang on: the skeleton's, and then virtual shoulder blades.
fn rows_of(instance: u32, joint: u32) -> Rows {
    if joint < plan.joint_count {
        return skeleton_rows(instance, joint);
    }
    return posed_rows(instance * plan.posed_stride + plan.at_scapulae + 3u * (joint - plan.joint_count));
}

fn moved(m: Rows, p: vec3f) -> vec3f {
    return p - taken_off(m, p);
}

// The rotation nearest to where a joint is: the columns of M made unit and, where these are not at right angles,
// Newton's iteration for the polar factor. Who uploads sees to it that there is one.
fn turn_of(m: Rows) -> mat3x3f {
    var a = unit(vec3f(1.0 - m.x.x, -m.y.x, -m.z.x));
    var b = unit(vec3f(-m.x.y, 1.0 - m.y.y, -m.z.y));
    var c = unit(vec3f(-m.x.z, -m.y.z, 1.0 - m.z.z));
    a = select(a, -a, dot(a, cross(b, c)) < 0.0);
    for (var step = 0u; step < POLAR_STEPS; step++) {
        if max(abs(dot(a, b)), max(abs(dot(b, c)), abs(dot(c, a)))) <= SKEWED {
            break;
        }
        let x = cross(b, c);
        let y = cross(c, a);
        let z = cross(a, b);
        let over = 1.0 / dot(a, x);
        a = 0.5 * (a + over * x);
        b = 0.5 * (b + over * y);
        c = 0.5 * (c + over * z);
    }
    return mat3x3f(a, b, c);
}

fn angle_between(a: vec3f, b: vec3f) -> f32 {
    let apart = unit(a) - unit(b);
    let together = unit(a) + unit(b);
    return 2.0 * angle_of(sqrt(dot(apart, apart)), sqrt(dot(together, together)));
}

fn rhythm(elevation: f32) -> f32 {
    let u = min(elevation / SETTING_PHASE, 1.0);
    return SCAPULAR_SHARE * (SETTING_PHASE * u * u * (2.0 - u) + max(elevation - SETTING_PHASE, 0.0));
}

// By how much a rotation turns about an axis: twice the arc tangent of q · axis over w ≥ 0.
fn turn_about(m: mat3x3f, axis: vec3f) -> f32 {
    let diagonal = vec3f(m[0].x, m[1].y, m[2].z);
    let skew = vec3f(m[1].z - m[2].y, m[2].x - m[0].z, m[0].y - m[1].x);
    let trace = diagonal.x + diagonal.y + diagonal.z;
    if trace > 0.0 {
        return 2.0 * angle_of(dot(skew, axis), 1.0 + trace);
    }
    // sums across the diagonal: of yz, zx, xy
    let sums = vec3f(m[1].z + m[2].y, m[2].x + m[0].z, m[0].y + m[1].x);
    var w = skew.x;
    var along = dot(vec3f(1.0 + diagonal.x - diagonal.y - diagonal.z, sums.z, sums.y), axis);
    if diagonal.y > diagonal.x && diagonal.y >= diagonal.z {
        w = skew.y;
        along = dot(vec3f(sums.z, 1.0 + diagonal.y - diagonal.z - diagonal.x, sums.x), axis);
    } else if diagonal.z > diagonal.x && diagonal.z > diagonal.y {
        w = skew.z;
        along = dot(vec3f(sums.y, sums.x, 1.0 + diagonal.z - diagonal.x - diagonal.y), axis);
    }
    return select(2.0 * angle_of(along, w), 2.0 * angle_of(-along, -w), w < 0.0);
}

fn scapula_row(girdle: vec4f, about: vec3f, x: vec3f, y: vec3f, z: vec3f, pivot: vec3f) -> vec4f {
    // I − (I + G)(I + A) = g − a + g a, with rows g of I − M and a of A
    let product = girdle.x * x + girdle.y * y + girdle.z * z;
    let shift = -vec3f(dot(x, pivot), dot(y, pivot), dot(z, pivot));
    return vec4f(girdle.xyz - about + product, girdle.w + dot(about, pivot) + dot(girdle.xyz, shift));
}

@compute @workgroup_size(WORKGROUP)
fn move_scapulae(@builtin(global_invocation_id) id: vec3u) {
    let scapula = id.x;
    let instance = id.y;
    if scapula >= plan.scapula_count {
        return;
    }
    let named = plan.scapula_joints + 3u * scapula;
    let kept = plan.scapula_vectors + 12u * scapula;
    let pivot = number_vector(kept);
    let axis = number_vector(kept + 3u);
    let hanging = number_vector(kept + 6u);
    let arm_direction = number_vector(kept + 9u);
    let girdle = skeleton_rows(instance, names[named]);
    let thorax = turn_of(skeleton_rows(instance, names[named + 1u]));
    let arm = turn_of(skeleton_rows(instance, names[named + 2u]));
    // the girdle on the thorax, and the arm's direction there
    let direction = (arm * arm_direction) * thorax;
    let on_thorax = transpose(thorax) * turn_of(girdle);
    let risen = rhythm(angle_between(hanging, direction)) - rhythm(angle_between(hanging, arm_direction));
    let half = sine_cosine(0.5 * (risen - turn_about(on_thorax, axis)));
    let w = half.cosine;
    let q = half.sine * axis;
    let x = vec3f(-2.0 * (q.y * q.y + q.z * q.z), 2.0 * (q.x * q.y - q.z * w), 2.0 * (q.x * q.z + q.y * w));
    let y = vec3f(2.0 * (q.x * q.y + q.z * w), -2.0 * (q.x * q.x + q.z * q.z), 2.0 * (q.y * q.z - q.x * w));
    let z = vec3f(2.0 * (q.x * q.z - q.y * w), 2.0 * (q.y * q.z + q.x * w), -2.0 * (q.x * q.x + q.y * q.y));
    let at = instance * plan.posed_stride + plan.at_scapulae + 3u * scapula;
    posed[at] = scapula_row(girdle.x, x, x, y, z, pivot);
    posed[at + 1u] = scapula_row(girdle.y, y, x, y, z, pivot);
    posed[at + 2u] = scapula_row(girdle.z, z, x, y, z, pivot);
}
