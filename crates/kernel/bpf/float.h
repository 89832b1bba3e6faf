/* SPDX-License-Identifier: GPL-2.0 */
/* IEEE 754 binary64 in integers, rounded to nearest, ties to even: BPF has no floating point.
 * Results equal a CPU's to the last bit, except for subnormal numbers: operands and results below
 * 2^-1022 count as zero. Windows, times and rates stay far away from that range. All NaNs are one
 * NaN. The functions have the names that compilers call; each is verified once, not per caller.
 *
 * BPF has no set-on-compare: a comparison is a branch, and the verifier follows both sides. Inside
 * loops, carries are computed from bits instead, and hidden from the optimizer, which would turn
 * them into branches. */
#ifndef SELFCLOCK_FLOAT_H
#define SELFCLOCK_FLOAT_H

typedef unsigned long long float_bits;

#ifndef FLOAT_FUNCTION
#define FLOAT_FUNCTION __attribute__((noinline))
#endif
#define FLOAT_INLINE static inline __attribute__((always_inline))

#define FLOAT_SIGN 0x8000000000000000ull
#define FLOAT_INFINITY 0x7ff0000000000000ull
#define FLOAT_NAN 0x7ff8000000000000ull
#define FLOAT_FRACTION 0x000fffffffffffffull
#define FLOAT_HIDDEN 0x0010000000000000ull
#define FLOAT_ONE 0x3ff0000000000000ull
enum { FLOAT_BIAS = 1023, FLOAT_SPECIAL = 0x7ff };

FLOAT_INLINE int float_exponent(float_bits a) { return a >> 52 & FLOAT_SPECIAL; }
FLOAT_INLINE float_bits float_significand(float_bits a) { return (a & FLOAT_FRACTION) | FLOAT_HIDDEN; }
FLOAT_INLINE float_bits float_magnitude(float_bits a) { return a & ~FLOAT_SIGN; }
FLOAT_INLINE int float_is_nan(float_bits a) { return float_magnitude(a) > FLOAT_INFINITY; }

FLOAT_INLINE int float_leading_zeros(float_bits x)
{
	int zeros = 0;

	if (!(x >> 32)) { zeros += 32; x <<= 32; }
	if (!(x >> 48)) { zeros += 16; x <<= 16; }
	if (!(x >> 56)) { zeros += 8; x <<= 8; }
	if (!(x >> 60)) { zeros += 4; x <<= 4; }
	if (!(x >> 62)) { zeros += 2; x <<= 2; }
	if (!(x >> 63)) zeros += 1;
	return zeros;
}

/* Rounds. The leading bit of `m` is bit 62; bit 0 is sticky. */
FLOAT_INLINE float_bits float_packed(float_bits sign, int exponent, float_bits m)
{
	float_bits below = m & 0x3ff;

	if (exponent <= 0)
		return sign;
	if (exponent >= FLOAT_SPECIAL)
		return sign | FLOAT_INFINITY;
	m >>= 10;
	if (below > 0x200 || (below == 0x200 && m & 1))
		m++;
 /* A carry out of the fraction raises the exponent, up to infinity. */
	return sign | (((float_bits)exponent << 52) + (m - FLOAT_HIDDEN));
}

/* Sum of two numbers, the larger magnitude first; the sign is given. */
FLOAT_INLINE float_bits float_added(float_bits a, float_bits b, float_bits sign, int subtract)
{
	int exponent = float_exponent(a), other = float_exponent(b), shift = exponent - other;
	float_bits m, n;

	if (exponent == FLOAT_SPECIAL) {
		if (a & FLOAT_FRACTION || (other == FLOAT_SPECIAL && (subtract || b & FLOAT_FRACTION)))
			return FLOAT_NAN;
		return sign | FLOAT_INFINITY;
	}
	if (!other) {
		/* Zero and zero: only -0 + -0 is -0. */
		if (!exponent)
			return subtract ? 0 : sign;
		return sign | float_magnitude(a);
	}
	m = float_significand(a) << 10;
	n = float_significand(b) << 10;
	if (shift > 63)
		n = 1;
	else if (shift)
		n = n >> (shift & 63) | !!(n << (64 - shift & 63));
	if (subtract) {
		m -= n;
		if (!m)
			return 0;
		shift = float_leading_zeros(m) - 1;
		return float_packed(sign, exponent - shift, m << (shift & 63));
	}
	m += n;
	if (m >> 63)
		return float_packed(sign, exponent + 1, m >> 1 | (m & 1));
	return float_packed(sign, exponent, m);
}

FLOAT_FUNCTION float_bits __adddf3(float_bits a, float_bits b)
{
	int subtract = (a ^ b) >> 63;

	if (float_magnitude(a) >= float_magnitude(b))
		return float_added(a, b, a & FLOAT_SIGN, subtract);
	return float_added(b, a, b & FLOAT_SIGN, subtract);
}

FLOAT_FUNCTION float_bits __subdf3(float_bits a, float_bits b)
{
	int subtract;

	b ^= FLOAT_SIGN;
	subtract = (a ^ b) >> 63;
	if (float_magnitude(a) >= float_magnitude(b))
		return float_added(a, b, a & FLOAT_SIGN, subtract);
	return float_added(b, a, b & FLOAT_SIGN, subtract);
}

/* 64 by 64 bits in halves: BPF multiplication yields only 64 bits. */
FLOAT_INLINE float_bits float_product(float_bits m, float_bits n, float_bits *high)
{
	float_bits low = (m & 0xffffffff) * (n & 0xffffffff);
	float_bits middle = (m >> 32) * (n & 0xffffffff) + (low >> 32);

	*high = (m >> 32) * (n >> 32) + (middle >> 32);
	middle = (m & 0xffffffff) * (n >> 32) + (middle & 0xffffffff);
	*high += middle >> 32;
	return middle << 32 | (low & 0xffffffff);
}

/* The upper 64 bits of an integer product. */
FLOAT_FUNCTION float_bits __selfclock_high_product(float_bits m, float_bits n)
{
	float_bits high;

	float_product(m, n, &high);
	return high;
}

FLOAT_FUNCTION float_bits __muldf3(float_bits a, float_bits b)
{
	float_bits sign = (a ^ b) & FLOAT_SIGN, low, high;
	int first = float_exponent(a), second = float_exponent(b), exponent = first + second - FLOAT_BIAS;

	if (first == FLOAT_SPECIAL || second == FLOAT_SPECIAL) {
		if (float_is_nan(a) || float_is_nan(b) || !first || !second)
			return FLOAT_NAN;
		return sign | FLOAT_INFINITY;
	}
	if (!first || !second)
		return sign;
	low = float_product(float_significand(a) << 11, float_significand(b) << 11, &high);
	if (high >> 63)
		return float_packed(sign, exponent + 1, high >> 1 | (high & 1) | !!low);
	return float_packed(sign, exponent, high | !!low);
}

FLOAT_FUNCTION float_bits __divdf3(float_bits a, float_bits b)
{
	float_bits sign = (a ^ b) & FLOAT_SIGN, rest, divisor, quotient = 1;
	int first = float_exponent(a), second = float_exponent(b), exponent = first - second + FLOAT_BIAS;

	if (float_is_nan(a) || float_is_nan(b))
		return FLOAT_NAN;
	if (first == FLOAT_SPECIAL)
		return second == FLOAT_SPECIAL ? FLOAT_NAN : sign | FLOAT_INFINITY;
	if (second == FLOAT_SPECIAL)
		return sign;
	if (!second)
		return first ? sign | FLOAT_INFINITY : FLOAT_NAN;
	if (!first)
		return sign;
	rest = float_significand(a);
	divisor = float_significand(b);
	if (rest < divisor) {
		rest <<= 1;
		exponent--;
	}
	rest -= divisor;
 /* 62 bits of the fraction, eleven at a time: a 53-bit remainder has room for no more. */
#define FLOAT_DIGITS(count)                                \
	rest <<= (count);                                  \
	quotient = quotient << (count) | (rest / divisor); \
	rest %= divisor;
	FLOAT_DIGITS(11)
	FLOAT_DIGITS(11)
	FLOAT_DIGITS(11)
	FLOAT_DIGITS(11)
	FLOAT_DIGITS(11)
	FLOAT_DIGITS(7)
#undef FLOAT_DIGITS
	return float_packed(sign, exponent, quotient | !!rest);
}

/* -1, 0, 1; 2 if either is NaN. Subnormals count as zero here too. */
FLOAT_INLINE int float_order(float_bits a, float_bits b)
{
	if (float_is_nan(a) || float_is_nan(b))
		return 2;
	if (!float_exponent(a))
		a = 0;
	if (!float_exponent(b))
		b = 0;
	if (a == b)
		return 0;
	if ((a ^ b) >> 63)
		return a >> 63 ? -1 : 1;
	return (a < b) != a >> 63 ? -1 : 1;
}

/* The compilers' convention: an unordered pair makes every comparison false. */
FLOAT_FUNCTION int __ltdf2(float_bits a, float_bits b) { int order = float_order(a, b); return order == 2 ? 1 : order; }
FLOAT_FUNCTION int __ledf2(float_bits a, float_bits b) { int order = float_order(a, b); return order == 2 ? 1 : order; }
FLOAT_FUNCTION int __gtdf2(float_bits a, float_bits b) { int order = float_order(a, b); return order == 2 ? -1 : order; }
FLOAT_FUNCTION int __gedf2(float_bits a, float_bits b) { int order = float_order(a, b); return order == 2 ? -1 : order; }
FLOAT_FUNCTION int __eqdf2(float_bits a, float_bits b) { return float_order(a, b) != 0; }
FLOAT_FUNCTION int __nedf2(float_bits a, float_bits b) { return float_order(a, b) != 0; }
FLOAT_FUNCTION int __unorddf2(float_bits a, float_bits b) { return float_order(a, b) == 2; }
/* Zero if equal or unordered. */
FLOAT_FUNCTION int __selfclock_uedf2(float_bits a, float_bits b) { int order = float_order(a, b); return order == 1 || order == -1; }

/* The other operand if one is NaN. */
FLOAT_FUNCTION float_bits __selfclock_maxdf(float_bits a, float_bits b)
{
	int order = float_order(a, b);

	if (order == 2)
		return !float_is_nan(a) ? a : !float_is_nan(b) ? b : FLOAT_NAN;
	return order >= 0 ? a : b;
}

FLOAT_FUNCTION float_bits __selfclock_mindf(float_bits a, float_bits b)
{
	int order = float_order(a, b);

	if (order == 2)
		return !float_is_nan(a) ? a : !float_is_nan(b) ? b : FLOAT_NAN;
	return order <= 0 ? a : b;
}

FLOAT_INLINE float_bits float_of(float_bits sign, float_bits x)
{
	int zeros;

	if (!x)
		return 0;
	zeros = float_leading_zeros(x);
	x <<= zeros & 63;
	return float_packed(sign, FLOAT_BIAS + 63 - zeros, x >> 1 | (x & 1));
}

FLOAT_FUNCTION float_bits __floatundidf(float_bits x) { return float_of(0, x); }
FLOAT_FUNCTION float_bits __floatdidf(float_bits x) { return float_of(x & FLOAT_SIGN, x >> 63 ? -x : x); }

/* Truncates and saturates, NaN to zero, like Rust's `as`. */
FLOAT_FUNCTION float_bits __selfclock_to_u64(float_bits a)
{
	int exponent = float_exponent(a) - FLOAT_BIAS;
	float_bits m = float_significand(a);

	if (a >> 63 || exponent < 0 || float_is_nan(a))
		return 0;
	if (exponent >= 64)
		return ~0ull;
	return exponent >= 52 ? m << (exponent - 52 & 63) : m >> (52 - exponent & 63);
}

FLOAT_FUNCTION float_bits __selfclock_to_i64(float_bits a)
{
	int exponent = float_exponent(a) - FLOAT_BIAS;
	float_bits m = float_significand(a);

	if (exponent < 0 || float_is_nan(a))
		return 0;
	if (exponent >= 63)
		return a >> 63 ? FLOAT_SIGN : ~FLOAT_SIGN;
	m = exponent >= 52 ? m << (exponent - 52 & 63) : m >> (52 - exponent & 63);
	return a >> 63 ? -m : m;
}

#define FLOAT_HIDE(x) __asm__ volatile("" : "+r"(x))
#define FLOAT_BORROW(a, b) (((~(a) & (b)) | (~((a) ^ (b)) & ((a) - (b)))) >> 63)
#define FLOAT_CARRY(a, b) ((((a) & (b)) | (((a) | (b)) & ~((a) + (b)))) >> 63)

/* The cube root, digit by digit, hence correctly rounded and equal to that of Rust's libm. 55
 * binary digits: with r the root so far, the next digit is 1 if 3 (2r)^2 + 3 (2r) + 1 fits in the
 * remainder. Remainder and square have up to 110 bits: high and low halves. */
FLOAT_FUNCTION float_bits __selfclock_cbrt(float_bits a)
{
	float_bits exponent = float_exponent(a), m = float_significand(a), of_three, third;
	float_bits rest_high = 0, rest_low = 0, square_high = 0, square_low = 0, root = 0;
	int shift;

	if (exponent == FLOAT_SPECIAL)
		return float_is_nan(a) ? FLOAT_NAN : a;
	if (!exponent)
		return a & FLOAT_SIGN;
 /* Make the exponent of 2^(exponent - 1075) m divisible by three; 3000 = 3 * 1000 keeps it
  * positive. */
	exponent += 3000 - 1075 - 108;
	of_three = exponent % 3;
	third = exponent / 3;
	m = m << of_three << 7;
#pragma clang loop unroll(disable)
	for (int digit = 0; digit < 55; digit++) {
		float_bits twice = root << 1, high = square_high << 2 | square_low >> 62, low = square_low << 2;
		float_bits four_high = high, four_low = low, term = low << 1, borrow, second, take, mask;

		rest_high = rest_high << 3 | rest_low >> 61;
		rest_low = rest_low << 3 | m >> 61;
		m <<= 3;
		/* 3 (2r)^2 */
		high = high + (high << 1 | low >> 63) + FLOAT_CARRY(low, term);
		low += term;
		/* + 3 (2r) + 1 */
		term = (twice << 1) + twice + 1;
		high += FLOAT_CARRY(low, term);
		low += term;
		borrow = FLOAT_BORROW(rest_low, low);
		low = rest_low - low;
		second = FLOAT_BORROW(rest_high, high);
		high = rest_high - high;
		FLOAT_HIDE(borrow);
		second |= FLOAT_BORROW(high, borrow);
		high -= borrow;
		take = 1 - second;
		FLOAT_HIDE(take);
		mask = -take;
		FLOAT_HIDE(mask);
		rest_low = (low & mask) | (rest_low & ~mask);
		rest_high = (high & mask) | (rest_high & ~mask);
		/* (2r + 1)^2 = (2r)^2 + 2 (2r) + 1 */
		term = ((twice << 1) + 1) & mask;
		square_high = four_high + FLOAT_CARRY(four_low, term);
		square_low = four_low + term;
		root = twice | take;
	}
	shift = root >> 54 ? 8 : 9;
	return float_packed(a & FLOAT_SIGN, (int)(FLOAT_BIAS + 62 - shift + third - 1000), root << shift | !!(rest_high | rest_low));
}

#endif
