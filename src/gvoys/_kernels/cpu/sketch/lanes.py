"""128 coordinates at a time in vector registers: eight accumulators of 16 lanes, written as LLVM vectors.

Numba's own loops keep the sum of a row in memory, and load and store it at each entry; these keep it in registers.
Additions and multiplications are plain IEEE operations in a fixed order, so that every machine
gives the same bits.
"""

from __future__ import annotations

from typing import Any

import llvmlite.ir as ir
from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = ["LANES", "WIDTH", "finish_row", "sum_row", "sum_weighted_row"]

LANES, VECTORS = 16, 8
WIDTH = LANES * VECTORS

_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_MASK = ir.VectorType(ir.IntType(1), LANES)


def _data(context: Any, builder: Any, signature: Any, args: Any, index: int) -> Any:
    return context.make_array(signature.args[index])(context, builder, args[index]).data


def _at(builder: Any, data: Any, index: Any) -> Any:
    """Pointer to the 16 floats that begin at an element."""
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


def _broadcast(builder: Any, value: Any) -> Any:
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(undefined, value, ir.Constant(_I32, 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))


def _plus(builder: Any, index: Any, k: int) -> Any:
    return builder.add(index, ir.Constant(_I64, LANES * k))


def _accumulate(context: Any, builder: Any, signature: Any, args: Any, weighted: bool) -> Any:
    """Sum rows indices[begin:end] of the state, and write the sum twice, side by side, into scratch."""
    state, indices, begin, end, scratch = (0, 1, 2, 3, 4)
    rows, columns, out = (_data(context, builder, signature, args, i) for i in (state, indices, scratch))
    weights = _data(context, builder, signature, args, 5) if weighted else None
    zero = ir.Constant(_VECTOR, [0.0] * LANES)
    sums = [cgutils.alloca_once_value(builder, zero) for _ in range(VECTORS)]
    with cgutils.for_range_slice(builder, args[begin], args[end], ir.Constant(_I64, 1), _I64) as (entry, _):
        row = builder.zext(builder.load(builder.gep(columns, [entry])), _I64)
        base = builder.mul(row, ir.Constant(_I64, WIDTH))
        if weighted:
            weight = _broadcast(builder, builder.load(builder.gep(weights, [entry])))
        for k, total in enumerate(sums):
            value = builder.load(_at(builder, rows, _plus(builder, base, k)), align=4)
            value = builder.fmul(weight, value) if weighted else value
            builder.store(builder.fadd(builder.load(total), value), total)
    for k, total in enumerate(sums):
        value = builder.load(total)
        for place in (LANES * k, WIDTH + LANES * k):
            builder.store(value, _at(builder, out, ir.Constant(_I64, place)), align=4)
    return context.get_dummy_value()


@intrinsic
def sum_row(typing: Any, state: Any, indices: Any, begin: Any, end: Any, scratch: Any) -> Any:
    """scratch[:128] = scratch[128:] = sum of the rows indices[begin:end] of the state."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _accumulate(context, builder, signature, args, weighted=False)

    return types.void(state, indices, begin, end, scratch), codegen


@intrinsic
def sum_weighted_row(typing: Any, state: Any, indices: Any, begin: Any, end: Any, scratch: Any, weights: Any) -> Any:
    """The same with each row times the float32 weight of its entry."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _accumulate(context, builder, signature, args, weighted=True)

    return types.void(state, indices, begin, end, scratch, weights), codegen


@intrinsic
def finish_row(
    typing: Any,
    scratch: Any,
    offset: Any,
    signs: Any,
    which: Any,
    factor: Any,
    out: Any,
    row: Any,
    start: Any,
    profile: Any,
    place: Any,
) -> Any:
    """out[row] = factor * signs[which] * scratch[offset:offset + 128]; profile[place:] += start * out[row].

    Reading 128 floats from the doubled sum at an offset is the cyclic shift; `signs` holds 128 bits per item, and a set
    bit turns the sign.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, bits, target, sums = (_data(context, builder, signature, args, i) for i in (0, 2, 5, 8))
        masks = builder.bitcast(bits, _I16.as_pointer())
        base = builder.mul(args[6], ir.Constant(_I64, WIDTH))
        first_mask = builder.mul(args[3], ir.Constant(_I64, VECTORS))
        scale, weight = _broadcast(builder, args[4]), _broadcast(builder, args[7])
        for k in range(VECTORS):
            value = builder.fmul(builder.load(_at(builder, source, _plus(builder, args[1], k)), align=4), scale)
            mask = builder.load(builder.gep(masks, [builder.add(first_mask, ir.Constant(_I64, k))]))
            value = builder.select(builder.bitcast(mask, _MASK), builder.fneg(value), value)
            builder.store(value, _at(builder, target, _plus(builder, base, k)), align=4)
            here = _at(builder, sums, _plus(builder, args[9], k))
            builder.store(builder.fadd(builder.load(here, align=4), builder.fmul(weight, value)), here, align=4)
        return context.get_dummy_value()

    return types.void(scratch, offset, signs, which, factor, out, row, start, profile, place), codegen
