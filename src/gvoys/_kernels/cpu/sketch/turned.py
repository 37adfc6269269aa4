"""Sums of rows of 128 coordinates that are turned, a cyclic shift and signs, as they are read."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.core import cgutils, types
from numba.extending import intrinsic

from gvoys._kernels.cpu.sketch.vectors import (
    I16,
    I64,
    LANES,
    MASK,
    ROW,
    VECTORS,
    WIDTH,
    add_to,
    broadcast,
    data_of,
    integer,
    load_integer,
    load_row,
    registers,
    row_of,
    store_row,
    store_vector,
    vector_at,
    zeros,
)

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
