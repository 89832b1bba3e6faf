/* Answers what tests/float.rs asks: triples of operation and two numbers come in, results go out. */
#include <stdio.h>
#include "../bpf/float.h"

static float_bits result(const float_bits *asked)
{
	float_bits a = asked[1], b = asked[2];

	switch (asked[0]) {
	case 0: return __adddf3(a, b);
	case 1: return __subdf3(a, b);
	case 2: return __muldf3(a, b);
	case 3: return __divdf3(a, b);
	case 4: return __ltdf2(a, b) < 0;
	case 5: return __ledf2(a, b) <= 0;
	case 6: return __gtdf2(a, b) > 0;
	case 7: return __gedf2(a, b) >= 0;
	case 8: return __eqdf2(a, b) == 0;
	case 9: return __nedf2(a, b) != 0;
	case 10: return __unorddf2(a, b) != 0;
	case 11: return __selfclock_uedf2(a, b) == 0;
	case 12: return __selfclock_maxdf(a, b);
	case 13: return __selfclock_mindf(a, b);
	case 14: return __floatundidf(a);
	case 15: return __floatdidf(a);
	case 16: return __selfclock_to_u64(a);
	case 17: return __selfclock_to_i64(a);
	case 18: return __selfclock_high_product(a, b);
	default: return __selfclock_cbrt(a);
	}
}

int main(void)
{
	static float_bits asked[3 * 4096], given[4096];
	size_t count;

	while ((count = fread(asked, 24, 4096, stdin)) > 0) {
		for (size_t i = 0; i < count; i++)
			given[i] = result(asked + 3 * i);
		if (fwrite(given, 8, count, stdout) != count)
			return 1;
	}
	return 0;
}
