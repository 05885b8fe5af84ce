"""Four float64 numbers side by side, as one value inside a Numba kernel: `lanes` for exact work.

Where numbers of four things lie in rows, as a direction and a length do, `read_rows` turns four rows into
four quads and `write_rows` back; that is what makes lanes of scattered things worth while. Nothing is
reassociated, and a thing gets the same bits whatever three others are computed beside it. A product and a sum
are fused where the processor can: that is the one difference between processor families.

Within kernels: ``+ - * /`` between quads or a quad and a float64, and the functions below. The index
arguments are not checked. What `lanes` says about Numba's cache holds here.
"""

# ruff: noqa: ARG001  Numba fixes the arguments of intrinsics and their generators

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, overload, register_model

WIDTH = 4
"""How many numbers a quad has."""

_DOUBLE = ir.DoubleType()
_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_DOUBLE, WIDTH)


class QuadType(types.Type):
    """Numba's type of four float64 numbers."""

    def __init__(self) -> None:
        super().__init__(name="Quad4d")


Quad = QuadType()
_FOUR = types.containers.UniTuple(Quad, WIDTH)


@register_model(QuadType)
class _QuadModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, _VECTOR)


def _shuffle(builder: Any, a: Any, b: Any, indices: Sequence[int]) -> Any:
    mask = ir.Constant(ir.VectorType(_INT32, WIDTH), [ir.Constant(_INT32, i) for i in indices])
    return builder.shuffle_vector(a, b, mask)


def _transposed(builder: Any, rows: Sequence[Any]) -> list[Any]:
    a, b, c, d = rows
    even_ab, odd_ab = _shuffle(builder, a, b, [0, 4, 2, 6]), _shuffle(builder, a, b, [1, 5, 3, 7])
    even_cd, odd_cd = _shuffle(builder, c, d, [0, 4, 2, 6]), _shuffle(builder, c, d, [1, 5, 3, 7])
    return [
        _shuffle(builder, even_ab, even_cd, [0, 1, 4, 5]),
        _shuffle(builder, odd_ab, odd_cd, [0, 1, 4, 5]),
        _shuffle(builder, even_ab, even_cd, [2, 3, 6, 7]),
        _shuffle(builder, odd_ab, odd_cd, [2, 3, 6, 7]),
    ]


def _data(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    return context.make_array(array_type)(context, builder, array).data


def _number(builder: Any, numbers: Any, group: Any, lane: int) -> Any:
    """The row that lane ``lane`` of group ``group`` names, as an index."""
    at = builder.add(builder.mul(group, ir.Constant(group.type, WIDTH)), ir.Constant(group.type, lane))
    return builder.zext(builder.load(builder.gep(numbers, [at])), _INT64)


def _vector_at(builder: Any, base: Any, start: Any) -> Any:
    return builder.bitcast(builder.gep(base, [start]), _VECTOR.as_pointer())


def _is_array(array: Any, dtype: Any) -> bool:
    return isinstance(array, types.Array) and array.dtype == dtype and array.layout == "C"


@intrinsic  # type: ignore[untyped-decorator]
def quad(typing_context: Any, number: Any) -> Any:
    """One float64 four times."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(nothing, args[0], ir.Constant(_INT32, 0))
        return _shuffle(builder, first, nothing, [0] * WIDTH)

    return Quad(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def read_quad(typing_context: Any, rows: Any, row: Any) -> Any:
    """The quad in row number ``row`` of a C-contiguous float64 array (..., 4)."""
    if not _is_array(rows, types.float64):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = builder.mul(args[1], ir.Constant(args[1].type, WIDTH))
        value = builder.load(_vector_at(builder, _data(context, builder, signature.args[0], args[0]), start))
        value.align = 8
        return value

    return Quad(rows, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def write_quad(typing_context: Any, rows: Any, row: Any, a: Any) -> Any:
    """Write a quad to row number ``row`` of a C-contiguous float64 array (..., 4)."""
    if not _is_array(rows, types.float64):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = builder.mul(args[1], ir.Constant(args[1].type, WIDTH))
        pointer = _vector_at(builder, _data(context, builder, signature.args[0], args[0]), start)
        builder.store(args[2], pointer).align = 8
        return context.get_dummy_value()

    return types.void(rows, types.intp, Quad), generate


@intrinsic  # type: ignore[untyped-decorator]
def pick(typing_context: Any, values: Any, numbers: Any, group: Any) -> Any:
    """Four of the values (n,): those that row ``group`` of ``numbers`` (..., 4), uint32, names."""
    if not (_is_array(values, types.float64) and _is_array(numbers, types.uint32)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base, named = (_data(context, builder, signature.args[i], args[i]) for i in range(2))
        value = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(WIDTH):
            one = builder.load(builder.gep(base, [_number(builder, named, args[2], lane)]))
            value = builder.insert_element(value, one, ir.Constant(_INT32, lane))
        return value

    return Quad(values, numbers, types.intp), generate


def _starts(context: Any, builder: Any, signature: Any, args: Any) -> tuple[Any, list[Any]]:
    """Address of an array's numbers, and where column ``at`` of four named rows is."""
    rows, numbers, group, columns, at = args[:5]
    named = _data(context, builder, signature.args[1], numbers)
    return _data(context, builder, signature.args[0], rows), [
        builder.add(builder.mul(_number(builder, named, group, lane), columns), at) for lane in range(WIDTH)
    ]


@intrinsic  # type: ignore[untyped-decorator]
def read_rows(typing_context: Any, rows: Any, numbers: Any, group: Any, columns: Any, at: Any) -> Any:
    """Four neighbouring columns, from ``at`` on, of four rows, as one quad a column.

    The rows of ``rows``, C-contiguous float64 (n, columns), are those that row ``group`` of ``numbers``
    (..., 4), uint32, names. ``columns`` is said again because as a constant it costs nothing.
    """
    if not (_is_array(rows, types.float64) and _is_array(numbers, types.uint32)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base, starts = _starts(context, builder, signature, args)
        loaded = []
        for start in starts:
            loaded.append(builder.load(_vector_at(builder, base, start)))
            loaded[-1].align = 8
        return context.make_tuple(builder, _FOUR, _transposed(builder, loaded))

    return _FOUR(rows, numbers, types.intp, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def write_rows(
    typing_context: Any, rows: Any, numbers: Any, group: Any, columns: Any, at: Any, quads: Any
) -> Any:
    """Write four quads where `read_rows` reads them; rounded where the rows are float32."""
    is_single = _is_array(rows, types.float32)
    if not ((is_single or _is_array(rows, types.float64)) and _is_array(numbers, types.uint32)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base, starts = _starts(context, builder, signature, args)
        values = cgutils.unpack_tuple(builder, args[5], WIDTH)
        kind = ir.VectorType(ir.FloatType(), WIDTH) if is_single else _VECTOR
        if is_single:
            values = [builder.fptrunc(value, kind) for value in values]
        for start, value in zip(starts, _transposed(builder, values), strict=True):
            pointer = builder.bitcast(builder.gep(base, [start]), kind.as_pointer())
            builder.store(value, pointer).align = 4 if is_single else 8
        return context.get_dummy_value()

    return types.void(rows, numbers, types.intp, types.intp, types.intp, _FOUR), generate


@intrinsic  # type: ignore[untyped-decorator]
def square_roots(typing_context: Any, a: Any) -> Any:
    """The square root of each number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.sqrt.v4f64"), args)

    return Quad(Quad), generate


@intrinsic  # type: ignore[untyped-decorator]
def apart(typing_context: Any, a: Any, b: Any) -> Any:
    """``a − b`` of numbers that are rounded before, never fused with a product: zero where both are equal."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fsub(args[0], args[1])

    return Quad(Quad, Quad), generate


@intrinsic  # type: ignore[untyped-decorator]
def where_above(typing_context: Any, a: Any, b: Any, yes: Any, no: Any) -> Any:
    """``yes`` where ``a > b``, else ``no``; and ``no`` where one of the two is not a number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[2], args[3])

    return Quad(Quad, Quad, Quad, Quad), generate


@intrinsic  # type: ignore[untyped-decorator]
def smallest(typing_context: Any, a: Any) -> Any:
    """The smallest of four numbers that are none of them NaN."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.extract_element(args[0], ir.Constant(_INT32, 0))
        for lane in range(1, WIDTH):
            one = builder.extract_element(args[0], ir.Constant(_INT32, lane))
            found = builder.select(builder.fcmp_ordered("<", one, found), one, found)
        return found

    return types.float64(Quad), generate


def _register(symbol: Callable[..., Any], instruction: str) -> None:
    """Let kernels write ``a + b`` where either side is a quad and the other a quad or float64."""

    @intrinsic  # type: ignore[untyped-decorator]
    def operation(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, instruction)(args[0], args[1], flags=("contract",))

        return Quad(Quad, Quad), generate

    @overload(symbol, strict=False)  # type: ignore[untyped-decorator]
    def choose(a: Any, b: Any) -> Callable[..., Any] | None:
        if a is Quad and b is Quad:
            return lambda a, b: operation(a, b)
        if a is Quad and b == types.float64:
            return lambda a, b: operation(a, quad(b))
        if a == types.float64 and b is Quad:
            return lambda a, b: operation(quad(a), b)
        return None


for _symbol, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _register(_symbol, _instruction)


def fours(values: npt.NDArray[np.generic]) -> npt.NDArray[Any]:
    """Values (n, ...) of n things as quads (groups, ..., 4); the last thing is repeated to fill up."""
    number = np.minimum(np.arange(-(-len(values) // WIDTH) * WIDTH), len(values) - 1)
    grouped = values[number].reshape(len(number) // WIDTH, WIDTH, *values.shape[1:])
    return np.ascontiguousarray(np.moveaxis(grouped, 1, -1))
