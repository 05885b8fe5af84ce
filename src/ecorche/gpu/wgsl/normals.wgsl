// Normals of the posed surface, true to what the file's author drew: skin/normals.py.

@group(0) @binding(0) var<uniform> plan: Plan;
@group(0) @binding(1) var<uniform> run: Run;
@group(0) @binding(2) var<storage, read> place_names: array<u32>;
@group(0) @binding(3) var<storage, read> place_numbers: array<f32>;
@group(0) @binding(4) var<storage, read> points: array<f32>;
@group(0) @binding(5) var<storage, read_write> at_bind: array<f32>;
@group(0) @binding(6) var<storage, read_write> normals: array<f32>;

fn point_of(instance: u32, vertex: u32) -> vec3f {
    let at = 3u * (instance * plan.vertex_count + vertex);
    return vec3f(points[at], points[at + 1u], points[at + 2u]);
}

fn place_vector(at: u32) -> vec3f {
    return vec3f(place_numbers[at], place_numbers[at + 1u], place_numbers[at + 2u]);
}

@compute @workgroup_size(WORKGROUP)
fn find_normals(@builtin(global_invocation_id) id: vec3u) {
    let place = id.x;
    let instance = id.y;
    if place >= plan.place_count {
        return;
    }
    let p = point_of(instance, place_names[plan.place_vertices + place]);
    var sum = vec3f(0.0);
    let end = place_names[plan.pair_starts + place + 1u];
    for (var pair = place_names[plan.pair_starts + place]; pair < end; pair++) {
        let q = point_of(instance, place_names[plan.pairs + 2u * pair]);
        let r = point_of(instance, place_names[plan.pairs + 2u * pair + 1u]);
        sum += cross(q - p, r - p);
    }
    let authored = place_vector(plan.authored + 3u * place);
    let area = sqrt(dot(sum, sum));
    var normal = authored;
    if area > 0.0 {
        let c = sum / area;
        // the edge's direction within the tangent plane; where it has none, any across the normal
        var t = point_of(instance, place_names[plan.neighbours + place]) - p;
        t = t - dot(t, c) * c;
        if !(dot(t, t) > 0.0) {
            t = select(vec3f(-c.z, 0.0, c.x), vec3f(0.0, c.z, -c.y), abs(c.x) < STEEP);
        }
        t = t / sqrt(dot(t, t));
        let local = place_vector(plan.locals + 3u * place);
        let carried = local.x * c + local.y * t + local.z * cross(c, t);
        if run.learn != 0u {
            at_bind[3u * place] = carried.x;
            at_bind[3u * place + 1u] = carried.y;
            at_bind[3u * place + 2u] = carried.z;
        }
        // the difference is zero at bind
        let kept = vec3f(at_bind[3u * place], at_bind[3u * place + 1u], at_bind[3u * place + 2u]);
        normal = authored - (kept - carried);
        // both lengths are the same number at bind: a quotient of equal numbers may be off by a bit
        let was = sqrt(dot(authored, authored));
        let now = sqrt(dot(normal, normal));
        if now > 0.0 && now != was {
            normal = (was / now) * normal;
        }
    }
    let at = 3u * (instance * plan.place_count + place);
    normals[at] = normal.x;
    normals[at + 1u] = normal.y;
    normals[at + 2u] = normal.z;
}
