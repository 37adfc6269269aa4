"""The maps of the generic path transposed, of adjoints in a row, and products of adjoints with states."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from gvoys._jit import kernel
from gvoys._kernels.cpu.sketch.options import copy_row, signed, turn_by
from gvoys._kernels.cpu.sketch.vectors import I64, LANES, add_to, data_of, integer, registers, vector_at, zeros


@kernel(inline="always")
def turn_back(source, shift, signs, row, out):
    """The transpose of `turn`, plane by plane: signs first, then shifted back; `row` is room for 144 numbers."""
    if len(signs) % LANES == 0:
        plane = 0
        while plane < len(source):
            _turn_lanes_back(source, plane, shift, signs, len(signs), row, out)
            plane += len(signs)
    else:
        _turn_pieces_back(source, shift, signs, out)


@kernel()
def _turn_pieces_back(source, shift, signs, out):
    width = len(signs)
    for plane in range(0, len(source), width):
        left = plane + width - shift
        signed(source[plane + shift : plane + width], signs[shift:], out[plane:left])
        signed(source[plane : plane + shift], signs[:shift], out[left : plane + width])


@intrinsic
def _turn_lanes_back(typing, source, plane, shift, signs, width, row, out):
    """The same of one plane, a multiple of 16: `row` has its first vector twice, so that any 16 are read at once."""

    def codegen(context, builder, signature, args):
        data, factors, turned, target = (data_of(context, builder, signature.args[i], args[i]) for i in (0, 3, 5, 6))
        plane, shift, end = args[1], args[2], args[4]
        with cgutils.for_range_slice(builder, integer(0), end, integer(LANES), I64) as (position, _):
            sign = builder.load(vector_at(builder, factors, position), align=4)
            value = builder.load(vector_at(builder, data, builder.add(plane, position)), align=4)
            builder.store(builder.fmul(sign, value), vector_at(builder, turned, position), align=4)
        builder.store(
            builder.load(vector_at(builder, turned, integer(0)), align=4), vector_at(builder, turned, end), align=4
        )
        with cgutils.for_range_slice(builder, integer(0), end, integer(LANES), I64) as (position, _):
            begin = builder.add(shift, position)
            over = builder.icmp_signed(">=", begin, end)
            begin = builder.select(over, builder.sub(begin, end), begin)
            value = builder.load(vector_at(builder, turned, begin), align=4)
            builder.store(value, vector_at(builder, target, builder.add(plane, position)), align=4)
        return context.get_dummy_value()

    return types.void(source, types.int64, types.int64, signs, types.int64, row, out), codegen


@kernel()
def attend_back(vectors, item, t, maps, angles, phases, row):
    """Transposed maps of attributes, of complex vectors in place: rotations back, the last first, then phases."""
    width = len(angles)
    attributes, omega = maps.values[item], maps.omega[t]
    cosines, sines, partners = maps.cosines[t], maps.sines[t], maps.partners[t]
    for level in range(len(cosines) - 1, -1, -1):
        for plane in range(0, len(vectors), width):
            _mix_back(vectors[plane : plane + width], cosines[level], sines[level], partners[level], row[:width])
    angles[:] = 0.0
    for k in range(len(attributes)):
        value, frequencies = attributes[k], omega[k]
        for j in range(width):
            angles[j] -= value * frequencies[j]
    real, imaginary = phases[0], phases[1]
    real[:] = 1.0
    imaginary[:] = 0.0
    turn_by(angles, real, imaginary)  # once for all vectors
    for plane in range(0, len(vectors), 2 * width):
        _rotate(vectors[plane : plane + width], vectors[plane + width : plane + 2 * width], real, imaginary)


@kernel()
def _mix_back(vector, cosines, sines, partners, room):
    """Rotate pairs of coordinates the other way."""
    for j in range(len(vector)):
        room[j] = cosines[j] * vector[j] - sines[j] * vector[partners[j]]
    copy_row(room, vector)


@kernel()
def _rotate(real, imaginary, cosines, sines):
    for j in range(len(real)):
        a, b = real[j], imaginary[j]
        real[j] = a * cosines[j] - b * sines[j]
        imaginary[j] = a * sines[j] + b * cosines[j]


@kernel(inline="always")
def product(a, begin, b):
    """The scalar product of b with what begins at a[begin], in single precision and a fixed order."""
    whole = len(b) - len(b) % LANES
    total = _product_of_lanes(a, begin, b, whole)
    for j in range(whole, len(b)):
        total += a[begin + j] * b[j]
    return total


@intrinsic
def _product_of_lanes(typing, a, begin, b, end):
    """The same of the first coordinates, a multiple of 16: lane by lane, then halves of the lanes."""

    def codegen(context, builder, signature, args):
        left, right = (data_of(context, builder, signature.args[i], args[i]) for i in (0, 2))
        (lanes,) = registers(builder, [zeros()])
        with cgutils.for_range_slice(builder, integer(0), args[3], integer(LANES), I64) as (position, _):
            one = builder.load(vector_at(builder, left, builder.add(args[1], position)), align=4)
            other = builder.load(vector_at(builder, right, position), align=4)
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
