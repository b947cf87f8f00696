#include "base/mt19937.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* What CPython 3.11's random.Random(seed) gives; each row of draws starts from the seed again. */
static const struct {
	uint64_t seed;
	uint32_t bits[5];	/* getrandbits(32), four times; and once more after another thousand */
	double floats[3];	/* random() */
	uint64_t below[12];	/* _randbelow(n) for each n in ranges */
	int64_t between[5];	/* randint(low, high) for each pair in ends */
	uint8_t shuffled[13];	/* shuffle(list(range(13))) */
	uint32_t hash, after;	/* of shuffle(list(range(1000))) after that, h = 31 h + v; then getrandbits(32) */
} known[] = {
	{ 0,
	  { 0xd82c07cd, 0x629f6fbe, 0xc2094cac, 0xe3e70682, 0x028d042b },
	  { 0x1.b0580f98a7dbep-1, 0x1.84129978f9c1ap-1, 0x1.aeaa51052e978p-2 },
	  { 0, 1, 0, 4, 988, 2087043557, 1739178872, 0xd4713d60u, 0xf7c1bd87u, 0x955ba91fafu, 0x2413433923a7711au,
	    0x60be313c23c6612fu },
	  { 1, 0, 2, 67347797602, 3857530827171283832 },
	  { 1, 10, 9, 5, 11, 2, 3, 7, 8, 4, 0, 12, 6 },
	  0x1fa2af08,
	  0x9626d8c4 },
	{ 1,
	  { 0x2265b1f5, 0x91b7584a, 0xd8f16adf, 0xcd613e30, 0x8744d3c0 },
	  { 0x1.132d8f91b7584p-3, 0x1.b1e2d5b3584f8p-1, 0x1.870d778409f13p-1 },
	  { 0, 0, 1, 1, 507, 1930549411, 2028277857, 0xa6cecc1bu, 0xc9e9c616u, 0x7c18072e8cu, 0x31e54146d5f4b3b2u,
	    0x4dc0873b6ec9d286u },
	  { -3, 0, 4, 87133182857, -465862725528031420 },
	  { 8, 12, 0, 11, 5, 3, 6, 7, 10, 4, 1, 9, 2 },
	  0x7feef294,
	  0x59805a17 },
	{ 12345,
	  { 0x6aa79987, 0xbb91433a, 0x029a7245, 0xd1f6f86c, 0xe8f71c89 },
	  { 0x1.aa9e665dc8a18p-2, 0x1.4d392d1f6f840p-7, 0x1.a68177b361de3p-1 },
	  { 0, 0, 1, 5, 954, 831769172, 1160692746, 0x90e5e945u, 694443915, 0xdf1fcff454u, 0x216b65ae6ed4e94bu,
	    0x504892878fe46024u },
	  { 1, 0, 4, -188873357126, -2825475318644903664 },
	  { 12, 10, 8, 1, 7, 9, 2, 3, 5, 4, 0, 11, 6 },
	  0x3cd99842,
	  0x9bd3e984 },
	{ 0xffffffffu,
	  { 0xa2a6c909, 0x9e9c04f4, 0x3404e941, 0x3720bfa9, 0x126e29ce },
	  { 0x1.454d9227a7013p-1, 0x1.a0274a3720bf8p-3, 0x1.36f8c1616ef77p-1 },
	  { 0, 0, 2, 8, 298, 1460408326, 0xf62bb2ffu, 1201118819, 0xe5be5530u, 0x106912bf35u, 0x3d1881aacdd962cau,
	    0x409ba9c9cb21e678u },
	  { 5, 0, 3, 149364887732, 950475563776407303 },
	  { 0, 6, 1, 5, 11, 2, 7, 4, 8, 12, 3, 9, 10 },
	  0xcf65a580,
	  0xb25ba3ed },
	{ 0x100000000u,
	  { 0x1ced31d7, 0x59ef8bbc, 0x6af6d506, 0xef49e4d2, 0x4249c564 },
	  { 0x1.ced31cb3df170p-4, 0x1.abdb5477a4f26p-2, 0x1.1139c02ebd380p-6 },
	  { 0, 1, 1, 0, 23, 1423829729, 0xd67ce86cu, 1940533316, 593069562, 0x6ef4f0580cu, 0x283656e3804709cdu,
	    0x5e57a61b57baebe2u },
	  { -4, 0, 5, -961625664302, 1030448570934208269 },
	  { 12, 2, 7, 8, 3, 4, 10, 11, 9, 0, 6, 5, 1 },
	  0xfe47f9f0,
	  0x0aa6e6c8 },
	{ 0x10000000005u,
	  { 0x811f1124, 0x8454f73c, 0x44c342a9, 0xa9eeaf02, 0x5512b360 },
	  { 0x1.023e2261153dcp-1, 0x1.130d0ad4f7578p-2, 0x1.da00b1c1c1612p-1 },
	  { 0, 0, 2, 0, 169, 341540259, 0xcbe877d5u, 0xd0fbb8aeu, 587241853, 0xcfa7efdb05u, 0x1d7f1de28da2fab1u,
	    0x7464b9a977801638u },
	  { 3, 0, 7, -935894234912, 2383699760569446857 },
	  { 3, 5, 2, 10, 6, 7, 1, 9, 11, 0, 4, 12, 8 },
	  0x32b81f0a,
	  0xf6c72f8e },
	{ 0xffffffffffffffffu,
	  { 0x05965e7e, 0x3faff328, 0x568d6a40, 0x9e667b13, 0x690ebf5d },
	  { 0x1.659799fd7f980p-6, 0x1.5a35a94f333d8p-2, 0x1.b21c0274c09a4p-3 },
	  { 0, 0, 1, 9, 217, 1958779474, 0x9d78e5c3u, 0xe69b9bc6u, 0x884aa53cu, 0xe0a88e9474u, 0xa03aa04f323670du,
	    0x2a37678dcd114a4du },
	  { -5, 0, 4, -533486015725, 1061849924804581970 },
	  { 1, 8, 6, 10, 2, 12, 4, 7, 11, 9, 5, 3, 0 },
	  0x203efc86,
	  0xfb323a21 },
};

static const uint64_t ranges[12] = {
	1,	    2,			  3,			      10,	     1000,		 0x80000000,
	0xFFFFFFFF, (uint64_t)1 << 32, ((uint64_t)1 << 32) + 1, 1000000000000, (uint64_t)1 << 62, INT64_MAX,
};
static const int64_t ends[5][2] = { { -5, 5 }, { 0, 0 }, { 2, 7 }, { -1000000000000, 1000000000000 },
				    { -((int64_t)1 << 62), ((int64_t)1 << 62) - 2 } };

#define N_KNOWN (sizeof(known) / sizeof(known[0]))

static void test_bits(void **state)
{
	struct mt19937 r;

	(void)state;
	for (size_t i = 0; i < N_KNOWN; i++) {
		mt19937_seed(&r, known[i].seed);
		for (int k = 0; k < 4; k++)
			assert_int_equal(mt19937_u32(&r), known[i].bits[k]);
		for (int k = 0; k < 1000; k++)
			mt19937_u32(&r);
		assert_int_equal(mt19937_u32(&r), known[i].bits[4]);
	}
}

static void test_floats(void **state)
{
	struct mt19937 r;

	(void)state;
	for (size_t i = 0; i < N_KNOWN; i++) {
		mt19937_seed(&r, known[i].seed);
		for (int k = 0; k < 3; k++)
			assert_true(mt19937_random(&r) == known[i].floats[k]);
	}
}

static void test_ranges(void **state)
{
	struct mt19937 r;

	(void)state;
	for (size_t i = 0; i < N_KNOWN; i++) {
		mt19937_seed(&r, known[i].seed);
		for (int k = 0; k < 12; k++)
			assert_true(mt19937_below(&r, ranges[k]) == known[i].below[k]);
		mt19937_seed(&r, known[i].seed);
		for (int k = 0; k < 5; k++)
			assert_true(mt19937_randint(&r, ends[k][0], ends[k][1]) == known[i].between[k]);
	}
}

static void test_shuffle(void **state)
{
	struct mt19937 r;

	(void)state;
	for (size_t i = 0; i < N_KNOWN; i++) {
		uint8_t small[13];
		uint64_t large[1000][2];
		uint32_t hash = 0;

		for (uint8_t k = 0; k < 13; k++)
			small[k] = k;
		mt19937_seed(&r, known[i].seed);
		mt19937_shuffle(&r, small, 13, sizeof(small[0]));
		assert_memory_equal(small, known[i].shuffled, sizeof(small));
		for (uint64_t k = 0; k < 1000; k++)
			large[k][0] = large[k][1] = k;
		mt19937_shuffle(&r, large, 1000, sizeof(large[0]));
		for (int k = 0; k < 1000; k++) {
			assert_true(large[k][0] == large[k][1]);
			hash = hash * 31 + (uint32_t)large[k][0];
		}
		assert_int_equal(hash, known[i].hash);
		mt19937_shuffle(&r, large, 1, sizeof(large[0]));	/* draws nothing */
		mt19937_shuffle(&r, large, 0, sizeof(large[0]));
		assert_int_equal(mt19937_u32(&r), known[i].after);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_floats),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_shuffle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
