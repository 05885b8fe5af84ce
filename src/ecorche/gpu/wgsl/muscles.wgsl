// What the muscles of a frame are posed from, and where to.

@group(0) @binding(0) var<uniform> plan: Plan;
@group(0) @binding(1) var<storage, read> payload: array<f32>;
@group(0) @binding(2) var<storage, read> names: array<u32>;
@group(0) @binding(3) var<storage, read> numbers: array<f32>;
@group(0) @binding(4) var<storage, read> bind_frames: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> posed: array<vec4f>;

fn number_vector(at: u32) -> vec3f {
    return vec3f(numbers[at], numbers[at + 1u], numbers[at + 2u]);
}
