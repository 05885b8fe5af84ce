"""Four float64 numbers side by side, as one value inside a Numba kernel: `lanes` for exact work.

Where numbers of four things lie in rows, as a direction and a length do, `read_rows` turns four rows into
four quads and `write_rows` back; that is what makes lanes of scattered things worth while. Nothing is
reassociated, and a thing gets the same bits whatever others are computed beside it. A product and a sum
are fused where the processor can: that is the one difference between processor families.

What is read from float32 arrays is eight numbers wide instead, an octet: a kernel that makes its constants by
`like` computes eight things at once to seven digits where it is given such arrays. And what `read_eight`
reads are eight float64 numbers: things that already lie side by side, such as instances of a character.

Within kernels: ``+ - * /`` between quads or a quad and a float64, and the functions below. The index
arguments are not checked. What `lanes` says about Numba's cache holds here.
"""

# ruff: noqa: ARG001  Numba fixes the arguments of intrinsics and their generators

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

import ecorche.base.compiling  # noqa: F401  what precedes the first kernel that is compiled
from ecorche.base.vector_operators import give_operators

WIDTH = 4
"""How many numbers a quad has."""

_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
_COLUMNS = 4  # that rows are read by


class QuadType(types.Type):
    """Numba's type of four or eight float64 or eight float32 numbers."""

    def __init__(self, name: str, number: Any, scalar: Any, width: int) -> None:
        self.number, self.scalar, self.width = number, scalar, width
        self.vector, self.bytes = ir.VectorType(scalar, width), number.bitwidth // 8
        super().__init__(name=name)


Quad = QuadType("Quad4d", types.float64, ir.DoubleType(), 4)
Octet = QuadType("Octet8f", types.float32, ir.FloatType(), 8)
Eight = QuadType("Eight8d", types.float64, ir.DoubleType(), 8)


@register_model(QuadType)
class _QuadModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, type_.vector)


def _is_array(array: Any, dtype: Any) -> bool:
    return isinstance(array, types.Array) and array.dtype == dtype and array.layout == "C"


def _kind(array: Any) -> QuadType | None:
    """What is read from an array: quads or octets; None of arrays that hold neither."""
    return next((kind for kind in (Quad, Octet) if _is_array(array, kind.number)), None)


def _shuffle(builder: Any, a: Any, b: Any, indices: Sequence[int]) -> Any:
    mask = ir.Constant(ir.VectorType(_INT32, len(indices)), [ir.Constant(_INT32, i) for i in indices])
    return builder.shuffle_vector(a, b, mask)


def _mixed(builder: Any, a: Any, b: Any, indices: Sequence[int]) -> Any:
    """The same shuffle of every four numbers of two vectors; those of ``b`` are counted from 4 on."""
    width = a.type.count
    return _shuffle(
        builder, a, b, [at + i % 4 + width * (i // 4) for at in range(0, width, 4) for i in indices]
    )


def _transposed(builder: Any, rows: Sequence[Any]) -> list[Any]:
    """Every four numbers of four vectors, as a matrix, transposed."""
    a, b, c, d = rows
    # a processor mixes neighbours fastest: of float64 two by two, of float32 four by four
    pairs = ((0, 4, 2, 6), (1, 5, 3, 7)) if a.type.count == 4 else ((0, 4, 1, 5), (2, 6, 3, 7))
    ab, cd = ([_mixed(builder, *two, pair) for pair in pairs] for two in ((a, b), (c, d)))
    halves = [[_mixed(builder, ab[k], cd[k], half) for half in ((0, 1, 4, 5), (2, 3, 6, 7))] for k in (0, 1)]
    (one, two), (three, four) = halves
    return [one, three, two, four] if a.type.count == 4 else [one, two, three, four]


def _data(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    return context.make_array(array_type)(context, builder, array).data


def _number(builder: Any, numbers: Any, group: Any, lane: int, width: int) -> Any:
    """The row that lane ``lane`` of group ``group`` names, as an index."""
    at = builder.add(builder.mul(group, ir.Constant(group.type, width)), ir.Constant(group.type, lane))
    return builder.zext(builder.load(builder.gep(numbers, [at])), _INT64)


def _vector_at(builder: Any, base: Any, start: Any, vector: Any) -> Any:
    return builder.bitcast(builder.gep(base, [start]), vector.as_pointer())


def _spread(builder: Any, number: Any, kind: QuadType) -> Any:
    nothing = ir.Constant(kind.vector, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(_INT32, 0))
    return _shuffle(builder, first, nothing, [0] * kind.width)


def _rounded(builder: Any, number: Any, kind: QuadType) -> Any:
    """A float64, rounded as the numbers of a type are, in all places."""
    return _spread(builder, builder.fptrunc(number, kind.scalar) if kind is Octet else number, kind)


@intrinsic  # type: ignore[untyped-decorator]
def quad(typing_context: Any, number: Any) -> Any:
    """One float64 four times."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(builder, args[0], Quad)

    return Quad(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def like(typing_context: Any, a: Any, number: Any) -> Any:
    """One float64 as often as ``a`` has numbers, rounded as they are."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _rounded(builder, args[1], a)

    return (a(a, types.float64), generate) if isinstance(a, QuadType) else None


def _reading(kind: QuadType, context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Code that reads row ``args[1]`` of an array of so many numbers a row."""
    start = builder.mul(args[1], ir.Constant(args[1].type, kind.width))
    base = _data(context, builder, signature.args[0], args[0])
    value = builder.load(_vector_at(builder, base, start, kind.vector))
    value.align = kind.bytes
    return value


@intrinsic  # type: ignore[untyped-decorator]
def read_quad(typing_context: Any, rows: Any, row: Any) -> Any:
    """The quad in row number ``row`` of C-contiguous float64 (..., 4), or octet of float32 (..., 8)."""
    kind = _kind(rows)
    return None if kind is None else (kind(rows, types.intp), partial(_reading, kind))


@intrinsic  # type: ignore[untyped-decorator]
def read_eight(typing_context: Any, rows: Any, row: Any) -> Any:
    """The eight numbers in row number ``row`` of C-contiguous float64 (..., 8)."""
    if not _is_array(rows, types.float64):
        return None
    return Eight(rows, types.intp), partial(_reading, Eight)


@intrinsic  # type: ignore[untyped-decorator]
def eight(typing_context: Any, number: Any) -> Any:
    """One float64 eight times."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(builder, args[0], Eight)

    return Eight(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def write_quad(typing_context: Any, rows: Any, row: Any, a: Any) -> Any:
    """Write a quad to row ``row`` of an array (..., 4), or eight (..., 8); rounded where that is float32."""
    target = _kind(rows)
    if target is None or not isinstance(a, QuadType):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = builder.mul(args[1], ir.Constant(args[1].type, a.width))
        base, vector = (
            _data(context, builder, signature.args[0], args[0]),
            ir.VectorType(target.scalar, a.width),
        )
        value = args[2] if target.number == a.number else builder.fptrunc(args[2], vector)
        builder.store(value, _vector_at(builder, base, start, vector)).align = target.bytes
        return context.get_dummy_value()

    return types.void(rows, types.intp, a), generate


@intrinsic  # type: ignore[untyped-decorator]
def address(typing_context: Any, numbers: Any, at: Any) -> Any:
    """Where number ``at`` of a C-contiguous array is, as `numba.carray` takes it."""
    if not (isinstance(numbers, types.Array) and numbers.layout == "C"):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])

    return types.misc.CPointer(numbers.dtype)(numbers, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def write_numbers(typing_context: Any, numbers: Any, row: Any, a: Any) -> Any:
    """Write a quad of whole numbers below 2³¹ to row ``row`` of ``numbers``, uint32, as others name rows."""
    if not (_is_array(numbers, types.uint32) and isinstance(a, QuadType)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = ir.VectorType(_INT32, a.width)
        start = builder.mul(args[1], ir.Constant(args[1].type, a.width))
        base = _data(context, builder, signature.args[0], args[0])
        builder.store(builder.fptosi(args[2], whole), _vector_at(builder, base, start, whole)).align = 4
        return context.get_dummy_value()

    return types.void(numbers, types.intp, a), generate


@intrinsic  # type: ignore[untyped-decorator]
def pick(typing_context: Any, values: Any, numbers: Any, group: Any) -> Any:
    """A quad of the values (n,): those that row ``group`` of ``numbers`` (..., 4 or 8), uint32, names."""
    kind = _kind(values)
    if kind is None or not _is_array(numbers, types.uint32):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base, named = (_data(context, builder, signature.args[i], args[i]) for i in range(2))
        value = ir.Constant(kind.vector, ir.Undefined)
        for lane in range(kind.width):
            one = builder.load(builder.gep(base, [_number(builder, named, args[2], lane, kind.width)]))
            value = builder.insert_element(value, one, ir.Constant(_INT32, lane))
        return value

    return kind(values, numbers, types.intp), generate


def _starts(context: Any, builder: Any, signature: Any, args: Any, width: int) -> tuple[Any, list[Any]]:
    """Address of an array's numbers, and where column ``at`` of the named rows is."""
    rows, numbers, group, columns, at = args[:5]
    named = _data(context, builder, signature.args[1], numbers)
    return _data(context, builder, signature.args[0], rows), [
        builder.add(builder.mul(_number(builder, named, group, lane, width), columns), at)
        for lane in range(width)
    ]


@intrinsic  # type: ignore[untyped-decorator]
def read_rows(typing_context: Any, rows: Any, numbers: Any, group: Any, columns: Any, at: Any) -> Any:
    """Four neighbouring columns, from ``at`` on, of four (or eight) rows, as one quad a column.

    The rows of ``rows``, C-contiguous (n, columns), are those that row ``group`` of ``numbers`` (..., 4 or
    8), uint32, names. ``columns`` is said again because as a constant it costs nothing.
    """
    kind = _kind(rows)
    if kind is None or not _is_array(numbers, types.uint32):
        return None
    four = types.containers.UniTuple(kind, _COLUMNS)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base, starts = _starts(context, builder, signature, args, kind.width)
        loaded = []
        for start in starts:
            vector = ir.VectorType(kind.scalar, _COLUMNS)
            loaded.append(builder.load(_vector_at(builder, base, start, vector)))
            loaded[-1].align = kind.bytes
        if kind is Octet:
            loaded = [_shuffle(builder, loaded[i], loaded[i + 4], range(8)) for i in range(4)]
        return context.make_tuple(builder, four, _transposed(builder, loaded))

    return four(rows, numbers, types.intp, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def write_rows(
    typing_context: Any, rows: Any, numbers: Any, group: Any, columns: Any, at: Any, quads: Any
) -> Any:
    """Write four quads where `read_rows` reads them; rounded where they are float64 and the rows float32."""
    kind, target = quads[0] if isinstance(quads, types.containers.BaseTuple) else None, _kind(rows)
    if not isinstance(kind, QuadType) or target is None or not _is_array(numbers, types.uint32):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base, starts = _starts(context, builder, signature, args, kind.width)
        values = cgutils.unpack_tuple(builder, args[5], _COLUMNS)
        if target is not kind:
            narrow = ir.VectorType(target.scalar, kind.width)
            values = [builder.fptrunc(value, narrow) for value in values]
        values = _transposed(builder, values)
        if kind is Octet:
            halves = (range(4), range(4, 8))
            values = [_shuffle(builder, value, value, half) for half in halves for value in values]
        for start, value in zip(starts, values, strict=True):
            builder.store(value, _vector_at(builder, base, start, value.type)).align = target.bytes
        return context.get_dummy_value()

    four = types.containers.UniTuple(kind, _COLUMNS)
    return types.void(rows, numbers, types.intp, types.intp, types.intp, four), generate


def _call(name: str, a: Any) -> Any:
    """Type and code of an LLVM function of quads."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        full = f"llvm.{name}.v{a.width}f{8 * a.bytes}"
        function = ir.FunctionType(a.vector, [a.vector])
        return builder.call(cgutils.get_or_insert_function(builder.module, function, full), args)

    return (a(a), generate) if isinstance(a, QuadType) else None


@intrinsic  # type: ignore[untyped-decorator]
def square_roots(typing_context: Any, a: Any) -> Any:
    """The square root of each number."""
    return _call("sqrt", a)


@intrinsic  # type: ignore[untyped-decorator]
def nearest_whole(typing_context: Any, a: Any) -> Any:
    """The nearest whole number of each; of halves the even one."""
    return _call("nearbyint", a)


@intrinsic  # type: ignore[untyped-decorator]
def apart(typing_context: Any, a: Any, b: Any) -> Any:
    """``a − b`` of numbers that are rounded before, never fused with a product: zero where both are equal."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fsub(args[0], args[1])

    return a(a, a), generate


@intrinsic  # type: ignore[untyped-decorator]
def where_above(typing_context: Any, a: Any, b: Any, yes: Any, no: Any) -> Any:
    """``yes`` where ``a > b``, else ``no``; and ``no`` where one of the two is not a number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[2], args[3])

    return a(a, a, a, a), generate


@intrinsic  # type: ignore[untyped-decorator]
def all_above(typing_context: Any, a: Any, b: Any) -> Any:
    """Whether every number of ``a`` is above that of ``b``; not where one is not a number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = ir.IntType(a.width)
        found = builder.bitcast(builder.fcmp_ordered(">", args[0], args[1]), bits)
        return builder.icmp_unsigned("==", found, ir.Constant(bits, (1 << a.width) - 1))

    return types.boolean(a, a), generate


@intrinsic  # type: ignore[untyped-decorator]
def smallest(typing_context: Any, a: Any) -> Any:
    """The smallest of numbers that are none of them NaN."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.extract_element(args[0], ir.Constant(_INT32, 0))
        for lane in range(1, a.width):
            one = builder.extract_element(args[0], ir.Constant(_INT32, lane))
            found = builder.select(builder.fcmp_ordered("<", one, found), one, found)
        return found

    return a.number(a), generate


give_operators(QuadType, types.float64, _rounded, flags=("contract",))


def in_lanes(values: npt.NDArray[np.generic], width: int) -> npt.NDArray[Any]:
    """Values (n, ...) of n things side by side (groups, ..., width); the last one is repeated to fill up."""
    number = np.minimum(np.arange(-(-len(values) // width) * width), len(values) - 1)
    grouped = values[number].reshape(len(number) // width, width, *values.shape[1:])
    return np.ascontiguousarray(np.moveaxis(grouped, 1, -1))


def fours(values: npt.NDArray[np.generic]) -> npt.NDArray[Any]:
    """Values (n, ...) of n things as quads (groups, ..., 4); the last thing is repeated to fill up."""
    return in_lanes(values, WIDTH)
