"""The maps of the generic path transposed, of adjoints in a row, and products of adjoints with states."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from gvoys._jit import kernel
from gvoys._kernels.cpu.sketch.options import signed, turn_by
from gvoys._kernels.cpu.sketch.vectors import I64, LANES, add_to, at, data_of, integer, registers, zeros


@kernel(inline="always")
def turn_back(source: Any, shift: Any, signs: Any, row: Any, out: Any) -> None:  # pragma: no cover
    """The transpose of `turn`, plane by plane: signs first, then shifted back; `row` is room for 144 numbers."""
    if len(signs) % LANES == 0:
        plane = 0
        while plane < len(source):
            _turn_lanes_back(source, plane, shift, signs, len(signs), row, out)
            plane += len(signs)
    else:
        _turn_pieces_back(source, shift, signs, out)


@kernel()
def _turn_pieces_back(source: Any, shift: Any, signs: Any, out: Any) -> None:  # pragma: no cover
    width = len(signs)
    for plane in range(0, len(source), width):
        left = plane + width - shift
        signed(source[plane + shift : plane + width], signs[shift:], out[plane:left])
        signed(source[plane : plane + shift], signs[:shift], out[left : plane + width])


@intrinsic
def _turn_lanes_back(
    typing: Any, source: Any, plane: Any, shift: Any, signs: Any, width: Any, row: Any, out: Any
) -> Any:
    """The same of one plane, a multiple of 16: `row` has its first vector twice, so that any 16 are read at once."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, factors, turned, target = (data_of(context, builder, signature.args[i], args[i]) for i in (0, 3, 5, 6))
        plane, shift, end = args[1], args[2], args[4]
        with cgutils.for_range_slice(builder, integer(0), end, integer(LANES), I64) as (place, _):
            sign = builder.load(at(builder, factors, place), align=4)
            value = builder.load(at(builder, data, builder.add(plane, place)), align=4)
            builder.store(builder.fmul(sign, value), at(builder, turned, place), align=4)
        builder.store(builder.load(at(builder, turned, integer(0)), align=4), at(builder, turned, end), align=4)
        with cgutils.for_range_slice(builder, integer(0), end, integer(LANES), I64) as (place, _):
            begin = builder.add(shift, place)
            over = builder.icmp_signed(">=", begin, end)
            begin = builder.select(over, builder.sub(begin, end), begin)
            value = builder.load(at(builder, turned, begin), align=4)
            builder.store(value, at(builder, target, builder.add(plane, place)), align=4)
        return context.get_dummy_value()

    return types.void(source, types.int64, types.int64, signs, types.int64, row, out), codegen


@kernel()
def attend_back(
    vectors: Any, item: Any, t: Any, maps: Any, angles: Any, phases: Any, row: Any
) -> None:  # pragma: no cover
    """The transposed maps of attributes, of complex vectors in place: rotations back, the last first, then phases."""
    width = len(angles)
    attributes, omega, own, other, partners = (
        maps.values[item],
        maps.omega[t],
        maps.own[t],
        maps.other[t],
        maps.partners[t],
    )
    for level in range(len(own) - 1, -1, -1):
        for plane in range(0, len(vectors), width):
            _mix_back(vectors[plane : plane + width], own[level], other[level], partners[level], row[:width])
    angles[:] = 0.0
    for k in range(len(attributes)):
        value, frequencies = attributes[k], omega[k]
        for j in range(width):
            angles[j] -= value * frequencies[j]
    cosines, sines = phases[0], phases[1]
    cosines[:] = 1.0
    sines[:] = 0.0
    turn_by(angles, cosines, sines)  # once for all vectors
    for plane in range(0, len(vectors), 2 * width):
        _rotate(vectors[plane : plane + width], vectors[plane + width : plane + 2 * width], cosines, sines)


@kernel()
def _mix_back(vector: Any, own: Any, other: Any, partners: Any, room: Any) -> None:  # pragma: no cover
    """Rotate pairs of coordinates the other way."""
    for j in range(len(vector)):
        room[j] = own[j] * vector[j] - other[j] * vector[partners[j]]
    vector[:] = room


@kernel()
def _rotate(real: Any, imaginary: Any, cosines: Any, sines: Any) -> None:  # pragma: no cover
    for j in range(len(real)):
        a, b = real[j], imaginary[j]
        real[j] = a * cosines[j] - b * sines[j]
        imaginary[j] = a * sines[j] + b * cosines[j]


@kernel(inline="always")
def product(a: Any, begin: Any, b: Any) -> Any:  # pragma: no cover
    """The scalar product of b with what begins at a[begin], in single precision and a fixed order."""
    whole = len(b) - len(b) % LANES
    total = _product_of_lanes(a, begin, b, whole)
    for j in range(whole, len(b)):
        total += a[begin + j] * b[j]
    return total


@intrinsic
def _product_of_lanes(typing: Any, a: Any, begin: Any, b: Any, end: Any) -> Any:
    """The same of the first coordinates, a multiple of 16: lane by lane, then halves of the lanes."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, right = (data_of(context, builder, signature.args[i], args[i]) for i in (0, 2))
        (lanes,) = registers(builder, [zeros()])
        with cgutils.for_range_slice(builder, integer(0), args[3], integer(LANES), I64) as (place, _):
            one = builder.load(at(builder, left, builder.add(args[1], place)), align=4)
            other = builder.load(at(builder, right, place), align=4)
            add_to(builder, lanes, builder.fmul(one, other))
        total, count = builder.load(lanes), LANES
        while count > 1:
            count //= 2
            kind = ir.VectorType(ir.IntType(32), count)
            low, high = (
                builder.shuffle_vector(total, total, ir.Constant(kind, list(range(first, first + count))))
                for first in (0, count)
            )
            total = builder.fadd(low, high)
        return builder.fpext(builder.extract_element(total, ir.Constant(ir.IntType(32), 0)), ir.DoubleType())

    return types.float64(a, types.int64, b, types.int64), codegen
