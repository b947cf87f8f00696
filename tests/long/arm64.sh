#!/usr/bin/env bash
# The programs on arm64: built by Debian's cross compiler against its arm64 libraries, which are unpacked into a scratch
# folder, and run by qemu. Ids and shards must be the bytes that this machine makes; unit tests and kernels pass
# there too. Speaks TAP; skipped, with the reason, where gcc-aarch64-linux-gnu, qemu-user-static or the packages cannot be had.
set -u
. "${TOP:?}/tests/tap.sh"

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}

# The packages of another architecture, beside this machine's: apt's state, cache and lists are all the scratch folder's.
unpack_root() {
	local apt="$work/apt" deb
	mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$work/root" && : > "$apt/status" || return
	echo "deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $VERSION_CODENAME main" > "$apt/sources"
	apt() {
		apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt/state" -o Dir::State::status="$apt/status" \
			-o Dir::Cache="$apt/cache" -o Dir::Etc::sourcelist="$apt/sources" -o Dir::Etc::sourceparts=/dev/null "$@"
	}
	apt update && apt install -y --download-only --no-install-recommends libc6-dev libutf8proc-dev libzstd-dev libarchive-dev \
		libxxhash-dev libexpat1-dev libjansson-dev libssl-dev libgomp1 libcmocka-dev || return
	for deb in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$deb" "$work/root" || return; done
}

cross() {	# cross TARGET...
	PKG_CONFIG_SYSROOT_DIR="$work/root" PKG_CONFIG_LIBDIR="$work/root/usr/lib/aarch64-linux-gnu/pkgconfig:$work/root/usr/share/pkgconfig" \
		make -C "$TOP" --no-print-directory CC="aarch64-linux-gnu-gcc --sysroot=$work/root" AR=aarch64-linux-gnu-ar \
		OBJCOPY=aarch64-linux-gnu-objcopy MACHINE=aarch64 HAVE_CURL=0 HAVE_HDF5=0 BUILD="$work/build" WERROR=1 "$@"
}

arm() { qemu-aarch64-static -L "$work/root" "$@"; }

# Every code point by itself, between letters, after a space and after a combining mark.
code_points() {
	perl -CO -e 'no warnings; for (0 .. 0x10FFFF) { next if $_ == 10 || $_ >= 0xD800 && $_ < 0xE000; my $c = chr; print "a${c}b $c e\x{301}$c\n" }'
}

same_ids() {	# same_ids OPTIONS...
	cmp <(bert-tokenize -q --vocab "$vocab" "$@" --to docs text) <(arm "$work/build/bin/bert-tokenize" -q --vocab "$vocab" "$@" --to docs text)
}

same_shards() {	# same_shards NAME OPTIONS...
	local to=$1
	shift
	bert-shard -q --vocab "$vocab" --shards 2 -o "$to" "$@" text && arm "$work/build/bin/bert-shard" -q --vocab "$vocab" --shards 2 -o "$to.arm" "$@" text &&
		diff -r "$to" "$to.arm"
}

command -v aarch64-linux-gnu-gcc qemu-aarch64-static > /dev/null || skip "no aarch64-linux-gnu-gcc or qemu-aarch64-static"
. /etc/os-release
unpack_root > log 2>&1 || skip "no arm64 packages: $(tail -n 1 log)"

vocab="$TOP/tests/data/vocab/bert-base-uncased.txt"
code_points > text
ok "it builds without a warning" cross all
for options in "--compat google" "--compat hf" "--cased" "--unicode 15.0"; do
	# shellcheck disable=SC2086
	ok "the same ids: $options" same_ids $options
done
ok "the same shards" same_shards static --dupe-factor 2
ok "the same shards, dynamic masks" same_shards dynamic --masking dynamic
ok "bert-verify" arm "$work/build/bin/bert-verify" -q static
for module in base/test_rng base/test_rng_many base/test_frame base/test_utf8 tokenizer/test_plain_words tokenizer/test_tokenizer shards/test_mask \
	model/test_forward model/test_backward; do
	ok "test_${module##*/test_}" cross "$work/build/tests/$module"
	ok "$module" arm "$work/build/tests/$module"
done
ok "the kernels" cross "$work/build/tests/kernels/harness"
ok "kernels against the reference" arm "$work/build/tests/kernels/harness" check
echo "1..$n"
