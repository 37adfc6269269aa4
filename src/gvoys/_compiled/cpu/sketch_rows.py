"""Sums of rows of 128 coordinates that are turned, a cyclic shift and signs, as they are read."""

from __future__ import annotations

from typing import Any, NamedTuple

import llvmlite.ir as ir
from numba.core import cgutils, types
from numba.extending import intrinsic

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


FEW_ENTRIES = 4  # most items that `leave_out_few` takes


class Turned(NamedTuple):
    """Items of a sum: each is a row of a state, turned by the map of its code, times a weight."""

    state: Any  # (n_rows * ROW,)
    rows: Any  # (n_items,), the row of each item; or a number that is added to the item's own
    codes: Any  # (n_items,)
    signs: Any  # 128 bits for each (group, step, code)
    shifts: Any  # (n_groups, n_steps, n_codes)
    map: Any  # of code 0, counted from the first of all groups and steps
    weights: Any  # (n_items,); or one weight for all, with a stride of 0
    stride: Any
    factor: Any  # of all weights


class _Reader:
    """Reads items in compiled code."""

    def __init__(self, context, builder, kind, value):
        self._context, self._builder = context, builder
        self._kinds = dict(zip(kind.fields, kind, strict=True))
        self._values = {name: builder.extract_value(value, i) for i, name in enumerate(kind.fields)}

    def _data(self, name):
        return data_of(self._context, self._builder, self._kinds[name], self._values[name])

    def item(self, item):
        builder, values = self._builder, self._values
        row = row_of(self._context, builder, self._kinds["rows"], values["rows"], item)
        code_map = builder.add(values["map"], load_integer(builder, self._data("codes"), item))
        first = builder.sub(integer(WIDTH), load_integer(builder, self._data("shifts"), code_map))
        weight = builder.load(builder.gep(self._data("weights"), [builder.mul(item, values["stride"])]))
        signs = builder.bitcast(self._data("signs"), I16.as_pointer())
        masks = builder.gep(signs, [builder.mul(code_map, integer(VECTORS))])
        position = builder.mul(row, integer(ROW))
        return _Item(builder, self._data("state"), position, first, masks, builder.fmul(weight, values["factor"]))


class _Item:
    """The row of an item, turned, by vectors."""

    def __init__(self, builder, state, position, first, masks, weight):
        self._builder, self._state, self._place, self._first, self._masks = builder, state, position, first, masks
        self._weights = broadcast(builder, builder.fneg(weight)), broadcast(builder, weight)

    def vector(self, k):
        builder = self._builder
        begin = builder.and_(builder.add(self._first, integer(LANES * k)), integer(WIDTH - 1))
        value = builder.load(vector_at(builder, self._state, builder.add(self._place, begin)), align=4)
        mask = builder.bitcast(builder.load(builder.gep(self._masks, [integer(k)])), MASK)
        return builder.fmul(builder.select(mask, *self._weights), value)

    def add_to(self, totals):
        for k, total in enumerate(totals):
            add_to(self._builder, total, self.vector(k))


def _differs(builder, targets, one, other):
    a, b = (builder.load(builder.gep(targets, [index])) for index in (one, other))
    return builder.icmp_unsigned("!=", a, b)


@intrinsic
def sum_turned(typing, items, begin, end, out, position):
    """out[position:] = the row that is the sum of the items begin … end - 1."""

    def codegen(context, builder, signature, args):
        reader = _Reader(context, builder, items, args[0])
        target = data_of(context, builder, signature.args[3], args[3])
        totals = registers(builder, [zeros()] * VECTORS)
        with cgutils.for_range_slice(builder, args[1], args[2], integer(1), I64) as (item, _):
            reader.item(item).add_to(totals)
        store_row(builder, target, args[4], totals)
        return context.get_dummy_value()

    return types.void(items, begin, end, out, position), codegen


@intrinsic
def sum_after(typing, items, targets, begin, end, behind, after, out, position):
    """after[i * 128:] = behind[:128] plus the items after item begin + i, if it is the last of its like.

    out[position:] = the row that is behind[:128] plus all items. Items are alike if they have the same target.
    """

    def codegen(context, builder, signature, args):
        reader = _Reader(context, builder, items, args[0])
        goals, rest, sums, target = (data_of(context, builder, signature.args[i], args[i]) for i in (1, 4, 5, 6))
        begin, end = args[2], args[3]
        totals = registers(builder, load_row(builder, rest, integer(0)))
        count, last = builder.sub(end, begin), builder.sub(end, integer(1))
        with cgutils.for_range(builder, count, intp=I64) as loop:
            item = builder.sub(last, loop.index)
            ends = builder.icmp_unsigned("==", item, last)
            following = builder.select(ends, item, builder.add(item, integer(1)))
            with builder.if_then(builder.or_(ends, _differs(builder, goals, item, following))):
                row = builder.mul(builder.sub(item, begin), integer(WIDTH))
                for k, total in enumerate(totals):
                    builder.store(builder.load(total), vector_at(builder, sums, row, LANES * k), align=4)
            reader.item(item).add_to(totals)
        store_row(builder, target, args[7], totals)
        return context.get_dummy_value()

    return types.void(items, targets, begin, end, behind, after, out, position), codegen


@intrinsic
def leave_one_out(typing, items, targets, begin, end, before, after, out):
    """Row targets[i] of out = before[:128] plus the items before item i and its like, plus the sum after them.

    A row is written when all items that read it have been read: `out` may be the state of the items.
    """

    def codegen(context, builder, signature, args):
        reader = _Reader(context, builder, items, args[0])
        goals, rest, sums, target = (data_of(context, builder, signature.args[i], args[i]) for i in (1, 4, 5, 6))
        begin, end = args[2], args[3]
        totals = registers(builder, load_row(builder, rest, integer(0)))
        others = registers(builder, [zeros()] * VECTORS)
        last = builder.sub(end, integer(1))
        with cgutils.for_range_slice(builder, begin, end, integer(1), I64) as (item, _):
            begins, ends = (builder.icmp_unsigned("==", item, edge) for edge in (begin, last))
            preceding = builder.select(begins, item, builder.sub(item, integer(1)))
            following = builder.select(ends, item, builder.add(item, integer(1)))
            with builder.if_then(builder.or_(begins, _differs(builder, goals, item, preceding))):
                for total, other in zip(totals, others, strict=True):
                    builder.store(builder.load(total), other)
            reader.item(item).add_to(totals)
            with builder.if_then(builder.or_(ends, _differs(builder, goals, item, following))):
                later = load_row(builder, sums, builder.mul(builder.sub(item, begin), integer(WIDTH)))
                row = builder.mul(load_integer(builder, goals, item), integer(ROW))
                for k, other in enumerate(others):
                    store_vector(builder, target, row, k, builder.fadd(builder.load(other), later[k]))
        return context.get_dummy_value()

    return types.void(items, targets, begin, end, before, after, out), codegen


def _sums_without_each(builder, values):
    """The sums of all values but one, for each of them, and the sum of all: sums before it plus sums after it."""
    before, after = [values[0]], [values[-1]]
    for value in values[1:]:
        before.append(builder.fadd(before[-1], value))
    for value in values[-2:0:-1]:
        after.append(builder.fadd(value, after[-1]))
    if len(values) == 1:
        return [zeros()], values[0]
    after = after[::-1]  # after[i] begins at value i + 1
    inner = [builder.fadd(before[i - 1], after[i]) for i in range(1, len(values) - 1)]
    return [after[0], *inner, before[-2]], before[-1]


def _leave_out(count):
    """Items stay in registers; rows are written before all are read, so that they must not be rows of the items."""

    @intrinsic
    def leave_out(typing, items, targets, begin, out, position):
        def codegen(context, builder, signature, args):
            reader = _Reader(context, builder, items, args[0])
            goals, target = (data_of(context, builder, signature.args[i], args[i]) for i in (1, 3))
            numbers = [builder.add(args[2], integer(i)) for i in range(count)]
            read = [reader.item(number) for number in numbers]
            rows = [builder.mul(load_integer(builder, goals, number), integer(ROW)) for number in numbers]
            for k in range(VECTORS):
                others, total = _sums_without_each(builder, [item.vector(k) for item in read])
                for row, value in zip([*rows, args[4]], [*others, total], strict=True):
                    store_vector(builder, target, row, k, value)
            return context.get_dummy_value()

        return types.void(items, targets, begin, out, position), codegen

    return leave_out


leave_out_few = tuple(
    map(_leave_out, range(1, FEW_ENTRIES + 1))
)  # for nodes of 1 … FEW_ENTRIES entries, all of them unlike


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
