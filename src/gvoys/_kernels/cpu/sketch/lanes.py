"""Sums of rows of 128 coordinates as they are, turned when they are complete: a cyclic shift and signs."""

from __future__ import annotations

from numba.core import cgutils, types
from numba.extending import intrinsic

from gvoys._kernels.cpu.sketch.vectors import (
    I16,
    I64,
    LANES,
    MASK,
    VECTORS,
    WIDTH,
    add_to,
    broadcast,
    data_of,
    integer,
    registers,
    row_of,
    store_row,
    vector_at,
    zeros,
)


def _accumulate(context, builder, signature, args):
    """Sum rows of the state; the seventh argument, if any, has the weights of the items."""
    state, out, *weights = (data_of(context, builder, signature.args[i], args[i]) for i in (0, 4, 6)[: len(args) - 4])
    totals = registers(builder, [zeros()] * VECTORS)
    with cgutils.for_range_slice(builder, args[2], args[3], integer(1), I64) as (item, _):
        position = builder.mul(row_of(context, builder, signature.args[1], args[1], item), integer(WIDTH))
        weight = [broadcast(builder, builder.load(builder.gep(data, [item]))) for data in weights]
        for k, total in enumerate(totals):
            value = builder.load(vector_at(builder, state, position, LANES * k), align=4)
            add_to(builder, total, builder.fmul(weight[0], value) if weight else value)
    store_row(builder, out, args[5], totals)
    return context.get_dummy_value()


@intrinsic
def sum_row(typing, state, rows, begin, end, out, position):
    """out[position:] = the row that is the sum of the rows of items begin … end - 1, of 128 coordinates each.

    `rows` has the row of each item, or is a number that is added to the item's own.
    """
    return types.void(state, rows, begin, end, out, position), _accumulate


@intrinsic
def sum_weighted_row(typing, state, rows, begin, end, out, position, weights):
    """The same with each row times the float32 weight of its item."""
    return types.void(state, rows, begin, end, out, position, weights), _accumulate


@intrinsic
def finish_row(typing, row, shift, signs, code_map, factor, out, position):
    """out[position:] = factor times the row, shifted, with its signs turned by the 128 bits signs[code_map]."""

    def codegen(context, builder, signature, args):
        source, bits, target = (data_of(context, builder, signature.args[i], args[i]) for i in (0, 2, 5))
        masks = builder.gep(builder.bitcast(bits, I16.as_pointer()), [builder.mul(args[3], integer(VECTORS))])
        first, scale = builder.sub(integer(WIDTH), args[1]), broadcast(builder, args[4])
        for k in range(VECTORS):
            begin = builder.and_(builder.add(first, integer(LANES * k)), integer(WIDTH - 1))
            value = builder.fmul(builder.load(vector_at(builder, source, begin), align=4), scale)
            mask = builder.bitcast(builder.load(builder.gep(masks, [integer(k)])), MASK)
            value = builder.select(mask, builder.fneg(value), value)
            builder.store(value, vector_at(builder, target, args[6], LANES * k), align=4)
        return context.get_dummy_value()

    return types.void(row, shift, signs, code_map, factor, out, position), codegen
