"""Sixteen or eight float32 numbers side by side, as one value inside a Numba kernel.

A kernel written with lanes treats sixteen vertices at once: each arithmetic operation becomes one
or a few vector instructions. LLVM lowers ``<16 x float>`` on any processor: one register with
AVX-512, two with AVX2, four with SSE or NEON. Eight lanes suit kernels that need many numbers at
once, which then stay in registers, and things that come in groups too small for sixteen.

Nothing here permits reassociation, so equal inputs give equal bits in every lane and on any number
of threads. `multiply_add` is fused where the processor has that instruction and is two roundings
where it has not: that is the one difference between processor families.

Numba's cache of compiled kernels does not notice a change in this file or another helper: after such
a change remove the ``*.nbi`` files beside the kernels.

Within kernels: ``+ - * /`` between lanes or a lane and a float32, unary minus, and the functions
below, which take lanes of either number; those that read lanes come in pairs. The index arguments are
not checked.
"""

# ruff: noqa: ARG001  Numba fixes the arguments of intrinsics and their generators

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

import ecorche.base.threads  # noqa: F401  settings that must precede the first parallel kernel
from ecorche.base.vector_operators import give_operators

WIDTH = 16
"""How many lanes a value has, as a rule."""
EIGHT = 8
"""How many lanes a value has that is read by one of the functions with eight in their name."""

_FLOAT = ir.FloatType()
_INT32 = ir.IntType(32)


class LanesType(types.Type):
    """Numba's type of some float32 lanes."""

    def __init__(self, width: int) -> None:
        self.width, self.vector = width, ir.VectorType(_FLOAT, width)
        super().__init__(name=f"Lanes{width}f")


Lanes, EightLanes = LanesType(WIDTH), LanesType(EIGHT)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, type_.vector)


def _all_lanes(kinds: Sequence[Any]) -> bool:
    """Whether all types are of lanes, and of as many."""
    return isinstance(kinds[0], LanesType) and all(kind is kinds[0] for kind in kinds)


def _shuffle(builder: Any, a: Any, b: Any, indices: Sequence[int]) -> Any:
    mask = ir.Constant(ir.VectorType(_INT32, len(indices)), [ir.Constant(_INT32, i) for i in indices])
    return builder.shuffle_vector(a, b, mask)


def _row_pointer(context: Any, builder: Any, array_type: Any, array: Any, row: Any, width: int) -> Any:
    """Address of row ``row`` of a C-contiguous array whose rows hold ``width`` items."""
    base = context.make_array(array_type)(context, builder, array).data
    start = builder.mul(row, ir.Constant(row.type, width))
    return builder.gep(base, [start])


def _is_rows(array: Any, dtype: Any) -> bool:
    return isinstance(array, types.Array) and array.dtype == dtype and array.layout == "C"


def _loading(lanes: LanesType) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def load(typing_context: Any, rows: Any, row: Any) -> Any:
        if not (_is_rows(rows, types.float32) and isinstance(row, types.Integer)):
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _row_pointer(context, builder, signature.args[0], args[0], args[1], lanes.width)
            value = builder.load(builder.bitcast(pointer, lanes.vector.as_pointer()))
            value.align = 4
            return value

        return lanes(rows, types.intp), generate

    return load


load, load_eight = _loading(Lanes), _loading(EightLanes)
"""The lanes in row number ``row`` of a C-contiguous float32 array (..., 16) or (..., 8)."""


@intrinsic  # type: ignore[untyped-decorator]
def load_rounded(typing_context: Any, rows: Any, row: Any) -> Any:
    """Sixteen lanes rounded from row number ``row`` of a C-contiguous float64 array (..., 16)."""
    if not (_is_rows(rows, types.float64) and isinstance(row, types.Integer)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _row_pointer(context, builder, signature.args[0], args[0], args[1], WIDTH)
        doubles = ir.VectorType(ir.DoubleType(), WIDTH)
        value = builder.load(builder.bitcast(pointer, doubles.as_pointer()))
        value.align = 8
        return builder.fptrunc(value, Lanes.vector)

    return Lanes(rows, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, rows: Any, row: Any, lanes: Any) -> Any:
    """Write lanes to row number ``row`` of a C-contiguous float32 array (..., as many)."""
    if not (_is_rows(rows, types.float32) and isinstance(row, types.Integer) and _all_lanes([lanes])):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _row_pointer(context, builder, signature.args[0], args[0], args[1], lanes.width)
        written = builder.store(args[2], builder.bitcast(pointer, lanes.vector.as_pointer()))
        written.align = 4
        return context.get_dummy_value()

    return types.void(rows, types.intp, lanes), generate


def _spread(builder: Any, number: Any, lanes: LanesType) -> Any:
    nothing = ir.Constant(lanes.vector, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(_INT32, 0))
    return _shuffle(builder, first, nothing, [0] * lanes.width)


def _broadcasting(lanes: LanesType) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def broadcast(typing_context: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _spread(builder, args[0], lanes)

        return lanes(types.float32), generate

    return broadcast


broadcast, broadcast_eight = _broadcasting(Lanes), _broadcasting(EightLanes)
"""One float32 in all lanes."""


@intrinsic  # type: ignore[untyped-decorator]
def beside(typing_context: Any, number: Any, lanes: Any) -> Any:
    """One float32 in as many lanes as others have."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(builder, args[0], lanes)

    return lanes(types.float32, lanes), generate


def _call(name: str, *lanes: Any) -> Any:
    """Type and code of an LLVM function on vectors."""
    if not _all_lanes(lanes):
        return None
    kind = lanes[0]

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = ir.FunctionType(kind.vector, [kind.vector] * len(lanes))
        full = f"llvm.{name}.v{kind.width}f32"
        return builder.call(cgutils.get_or_insert_function(builder.module, function, full), args)

    return kind(*lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply_add(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """``a * b + c`` of lanes, fused where the processor can."""
    return _call("fmuladd", a, b, c)


@intrinsic  # type: ignore[untyped-decorator]
def square_root(typing_context: Any, a: Any) -> Any:
    """The square root in each lane."""
    return _call("sqrt", a)


@intrinsic  # type: ignore[untyped-decorator]
def larger(typing_context: Any, a: Any, b: Any) -> Any:
    """The larger number in each lane; where one is not a number, the other."""
    return _call("maxnum", a, b)


@intrinsic  # type: ignore[untyped-decorator]
def where_less(typing_context: Any, a: Any, b: Any, yes: Any, no: Any) -> Any:
    """``yes`` in the lanes where ``a < b``, ``no`` in the others."""
    if not _all_lanes([a, b, yes, no]):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[2], args[3])

    return a(a, b, yes, no), generate


@intrinsic  # type: ignore[untyped-decorator]
def all_less(typing_context: Any, a: Any, b: Any) -> Any:
    """Whether ``a < b`` in all lanes."""
    if not _all_lanes([a, b]):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = ir.IntType(a.width)
        less = builder.bitcast(builder.fcmp_ordered("<", args[0], args[1]), bits)
        return builder.icmp_unsigned("==", less, ir.Constant(bits, 2**a.width - 1))

    return types.boolean(a, a), generate


def _gathering(lanes: LanesType) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def gather(typing_context: Any, points: Any, vertices: Any, row: Any) -> Any:
        if not (_is_rows(points, types.float32) and _is_rows(vertices, types.int32)):
            return None
        three = types.containers.UniTuple(lanes, 3)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            base = context.make_array(signature.args[0])(context, builder, args[0]).data
            numbers = _row_pointer(context, builder, signature.args[1], args[1], args[2], lanes.width)
            xyz = [ir.Constant(lanes.vector, ir.Undefined)] * 3
            for lane in range(lanes.width):
                start = _first_component(builder, numbers, lane)
                for axis in range(3):
                    number = builder.load(builder.gep(base, [builder.add(start, _index(axis))]))
                    xyz[axis] = builder.insert_element(xyz[axis], number, ir.Constant(_INT32, lane))
            return context.make_tuple(builder, three, xyz)

        return three(points, vertices, types.intp), generate

    return gather


gather_points, gather_eight_points = _gathering(Lanes), _gathering(EightLanes)
"""x, y and z lanes of points: those that row ``row`` of ``vertices`` (..., 16) or (..., 8) names.

``points`` is C-contiguous float32 (vertices, 3), ``vertices`` C-contiguous int32.
"""


@intrinsic  # type: ignore[untyped-decorator]
def scatter_points(typing_context: Any, points: Any, vertices: Any, row: Any, x: Any, y: Any, z: Any) -> Any:
    """Write a point a lane to the rows of ``points`` that row ``row`` of ``vertices`` names."""
    if not (_is_rows(points, types.float32) and _is_rows(vertices, types.int32) and _all_lanes([x, y, z])):
        return None
    width, lanes = x.width, x

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base = context.make_array(signature.args[0])(context, builder, args[0]).data
        numbers = _row_pointer(context, builder, signature.args[1], args[1], args[2], width)
        x, y, z = args[3:]
        pair_type = ir.VectorType(_FLOAT, 2)
        for lane in range(width):
            start = _first_component(builder, numbers, lane)
            # x and y leave in one eight-byte store
            pair = _shuffle(builder, x, y, [lane, width + lane])
            pointer = builder.bitcast(builder.gep(base, [start]), pair_type.as_pointer())
            builder.store(pair, pointer).align = 4
            number = builder.extract_element(z, ir.Constant(_INT32, lane))
            builder.store(number, builder.gep(base, [builder.add(start, _index(2))]))
        return context.get_dummy_value()

    return types.void(points, vertices, types.intp, lanes, lanes, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def store_points(typing_context: Any, points: Any, first: Any, x: Any, y: Any, z: Any) -> Any:
    """Write a point a lane to the rows of ``points`` (vertices, 3) from row ``first`` on."""
    if not (_is_rows(points, types.float32) and _all_lanes([x, y, z])):
        return None
    width, lanes = x.width, x

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base = context.make_array(signature.args[0])(context, builder, args[0]).data
        x, y, z = args[2:]
        start = builder.mul(args[1], ir.Constant(args[1].type, 3))
        for part in range(3):
            # the part's numbers of x0 y0 z0 x1 y1 z1 …
            places = [divmod(width * part + i, 3) for i in range(width)]
            xy = _shuffle(builder, x, y, [lane + width * (axis % 2) for lane, axis in places])
            merged = [i if axis < 2 else width + lane for i, (lane, axis) in enumerate(places)]
            value = _shuffle(builder, xy, z, merged)
            at = builder.gep(base, [builder.add(start, ir.Constant(start.type, width * part))])
            builder.store(value, builder.bitcast(at, lanes.vector.as_pointer())).align = 4
        return context.get_dummy_value()

    return types.void(points, types.intp, lanes, lanes, lanes), generate


def _index(number: int) -> Any:
    return ir.Constant(ir.IntType(64), number)


def _first_component(builder: Any, numbers: Any, lane: int) -> Any:
    """Offset of x of the vertex that ``numbers[lane]`` names in a (vertices, 3) array."""
    vertex = builder.sext(builder.load(builder.gep(numbers, [_index(lane)])), ir.IntType(64))
    return builder.mul(vertex, _index(3))


give_operators(LanesType, types.float32, _spread)


def rows_of_lanes(shape: tuple[int, ...], width: int = WIDTH) -> npt.NDArray[np.float32]:
    """A float32 array (*shape, width) of zeros that starts on a cache line, and so every row of sixteen."""
    count = int(np.prod(shape, dtype=np.int64)) * width
    raw = np.zeros(count + WIDTH, np.float32)
    skip = (-(raw.ctypes.data // 4)) % WIDTH
    return raw[skip : skip + count].reshape(*shape, width)
