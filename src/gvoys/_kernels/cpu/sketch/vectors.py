"""128 coordinates at a time in registers: eight LLVM vectors of 16 floats.

Numba's own loops keep the sum of a row in memory, and load and store it at each entry. Additions and multiplications
are plain IEEE operations in a fixed order, so that every machine gives the same bits.
"""

from __future__ import annotations

import llvmlite.ir as ir
from numba.core import cgutils, types

LANES, VECTORS = 16, 8
WIDTH = LANES * VECTORS
ROW = WIDTH + LANES  # a row whose first 16 coordinates stand at its end once more: a cyclic shift is eight loads then

I16, _I32, I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
MASK = ir.VectorType(ir.IntType(1), LANES)


def data_of(context, builder, kind, value):
    """Pointer to an array's first element."""
    return context.make_array(kind)(context, builder, value).data


def integer(value):
    return ir.Constant(I64, value)


def zeros():
    return ir.Constant(_VECTOR, [0.0] * LANES)


def vector_at(builder, data, position, offset=0):
    """Pointer to the 16 floats that begin at an element."""
    element = builder.gep(data, [builder.add(position, integer(offset))])
    return builder.bitcast(element, _VECTOR.as_pointer())


def broadcast(builder, value):
    """A vector of 16 times the value."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(undefined, value, ir.Constant(_I32, 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))


def load_integer(builder, data, index):
    """An unsigned integer of any size."""
    value = builder.load(builder.gep(data, [index]))
    return value if value.type == I64 else builder.zext(value, I64)


def row_of(context, builder, kind, rows, item):
    """The row of an item: an array of rows gives it, or a number that is added to the item's own."""
    if isinstance(kind, types.Array):
        return load_integer(builder, data_of(context, builder, kind, rows), item)
    return builder.add(item, rows)


def registers(builder, values):
    """Variables, which LLVM keeps in registers."""
    return [cgutils.alloca_once_value(builder, value) for value in values]


def add_to(builder, total, value):
    builder.store(builder.fadd(builder.load(total), value), total)


def load_row(builder, data, position):
    """The eight vectors of a row."""
    return [builder.load(vector_at(builder, data, position, LANES * k), align=4) for k in range(VECTORS)]


def store_vector(builder, data, position, k, value):
    """Write vector k of the row that begins at a position, and the first at its end once more."""
    for offset in (LANES * k, WIDTH) if k == 0 else (LANES * k,):
        builder.store(value, vector_at(builder, data, position, offset), align=4)


def store_row(builder, data, position, totals):
    for k, total in enumerate(totals):
        store_vector(builder, data, position, k, builder.load(total))
