#!/usr/bin/env bash
# The installed library, as a program of others sees it: make install into a fresh folder, the example built
# by pkg-config against shared and static, its output beside bert-tokenize's. Speaks TAP.
set -u
. "${TOP:?}/tests/tap.sh"

same() { diff "$1" "$2"; }

# What was built is installed, not built anew: the flags come from the make that runs this.
made() { make -C "$TOP" --no-print-directory "BUILD=${BIN%/bin}" "CONFIG=${CONFIG:-release}" "PREFIX=$work/usr" "$@"; }
ok "make install under DESTDIR" made DESTDIR="$work/stage" install
ok "nothing is outside DESTDIR" test ! -e "$work/usr" -a -e "$work/stage$work/usr/lib/libberttools-tokenizer.a"
ok "make install under PREFIX" made install
ok "the same files either way" diff -r "$work/usr" "$work/stage$work/usr"

export PKG_CONFIG_PATH=$work/usr/lib/pkgconfig LD_LIBRARY_PATH=$work/usr/lib
headers=$work/usr/include/berttools
read -ra cc <<<"${CC:-cc}"
case ${CONFIG:-release} in
asan) cc+=("-fsanitize=address,undefined") ;;
tsan) cc+=(-fsanitize=thread) ;;
esac
read -ra cflags < <(pkg-config --cflags berttools-tokenizer)
read -ra shared < <(pkg-config --libs berttools-tokenizer)
read -ra static < <(pkg-config --static --libs berttools-tokenizer)
strict=(-std=c11 -D_POSIX_C_SOURCE=200809L -pedantic -Wall -Wextra -Werror)
build() { "${cc[@]}" "${strict[@]}" -o "$1" "$TOP/examples/tokenize.c" "${cflags[@]}" "${@:2}"; }
each_alone() {
	local h
	for h in "$headers"/*/*.h; do
		echo "#include <${h#"$headers"/}>" | "${cc[@]}" -std=c99 -pedantic -Wall -Wextra -Werror "${cflags[@]}" -x c -fsyntax-only - || return 1
	done
}
ok "every header stands alone, in C99" each_alone
ok "the example against the shared library" build shared "${shared[@]}"
ok "the example against the static library" build static "${static[@]/#-lberttools-tokenizer/-l:libberttools-tokenizer.a}"

cat >ids.cpp <<'END'
#include <base/err.h>
#include <base/pool.h>
#include <base/utf8.h>
#include <tokenizer/decode.h>
#include <tokenizer/tokenizer.h>

#include <cstdio>
#include <iostream>
#include <string>

static int fail()
{
	std::cerr << err_text() << '\n';
	return err_code();
}

/* Lines of text to lines of ids, each followed by the text that they give back. */
int main(int, char **argv)
{
	tokenizer_opts o = TOKENIZER_OPTS_DEFAULT;
	tokenizer *t;
	ids found = IDS_INIT;
	buf text = BUF_INIT;
	encoder *e;

	o.vocab = argv[1];
	if (tokenizer_open(&t, &o) || !(e = encoder_new(t)))
		return fail();
	for (std::string line; std::getline(std::cin, line);) {
		found.count = 0;
		buf_clear(&text);
		if (encoder_encode(e, line.data(), line.size(), &found) || decode_ids(tokenizer_vocab(t), found.items, found.count, &text))
			return fail();
		for (std::size_t i = 0; i < found.count; i++)
			std::cout << (i ? " " : "") << found.items[i];
		std::cout << '\n' << (text.len ? text.data : "") << '\n';
	}
	if (vocab_special(tokenizer_vocab(t)).unk == VOCAB_NONE || pool_allowed_threads() < 1 || !utf8_is_space(' '))
		return 1;
	ids_release(&found);
	buf_release(&text);
	encoder_free(e);
	tokenizer_close(t);
	return 0;
}
END
read -ra cxx <<<"${CXX:-c++}"
cxx+=("${cc[@]:1}" -std=c++11 -pedantic -Wall -Wextra -Werror)
each_alone_in_cpp() {
	local h
	for h in "$headers"/*/*.h; do
		echo "#include <${h#"$headers"/}>" | "${cxx[@]}" "${cflags[@]}" -x c++ -fsyntax-only - || return 1
	done
}
build_cpp() { "${cxx[@]}" -o "$1" ids.cpp "${cflags[@]}" "${@:2}"; }
in_cpp() {	# in_cpp WHAT COMMAND...: as ok, where there is a C++ compiler
	if command -v "${cxx[0]}" >/dev/null; then ok "$@"; else n=$((n + 1)); echo "ok $n - $1 # SKIP no C++ compiler (${cxx[0]})"; fi
}
in_cpp "every header stands alone, in C++" each_alone_in_cpp
in_cpp "a C++ program against the shared library" build_cpp shared-cpp "${shared[@]}"
in_cpp "a C++ program against the static library" build_cpp static-cpp "${static[@]/#-lberttools-tokenizer/-l:libberttools-tokenizer.a}"

needs() { readelf -d "$1" | grep -F 'Shared library: [libberttools-tokenizer.so.0]'; }
ok "the shared one needs the library by its soname" needs shared
ok "the static one does not need it" eval '! needs static'

vocab=$TOP/tests/data/man/vocab.txt
mapfile -t texts < <(grep -a . "$TOP/tests/data/tokenizer/cases.txt"; grep . "$TOP/tests/data/man/corpus.txt")
texts=("${texts[@]:0:200}")
expected() {
	printf '%s\n' "${texts[@]}" >lines
	bert-tokenize --vocab "$vocab" -o want.ids lines && bert-tokenize --vocab "$vocab" --to offsets -o want.offsets lines &&
		bert-tokenize --vocab "$vocab" --decode -o want.text want.ids && paste -d '\n' want.ids want.offsets want.text >want
}
ok "bert-tokenize says what is right" expected
ok "there is much to compare" test "$(wc -l <want)" -gt 300 -a "$(sort -u want | wc -l)" -gt 200
for kind in shared static; do
	ok "$kind: ids, offsets and text as bert-tokenize's" eval "./$kind '$vocab' \"\${texts[@]}\" >got && same want got"
done
for kind in shared static; do
	in_cpp "$kind, C++: ids and text as bert-tokenize's" eval "./$kind-cpp '$vocab' <lines >got && paste -d '\n' want.ids want.text | same - got"
done
in_cpp "C++: a missing vocabulary is named" eval '! ./shared-cpp nowhere </dev/null 2>err && grep -q "nowhere" err'
ok "texts are asked for" eval "./shared '$vocab' 2>err; test \$? = 2"
ok "a missing vocabulary is named" eval '! ./shared nowhere x 2>err && grep -q "nowhere" err'
refused() {
	local status=0
	./shared "$vocab" a $'\xFF' 2>err || status=$?
	test "$status" = 3 && grep -qx 'tokenize: text 2 is no UTF-8' err
}
ok "a text that is no UTF-8 is refused, as corrupt" refused

declared() { ctags -x --c-kinds=p --_xformat=%N "$headers"/*/*.h | sort; }

# Two libraries in one program must not have functions of one name; jansson shows its own in its archive.
archives() {
	local a
	for a in $(pkg-config --static --libs-only-l jansson libcrypto | sed 's/-l//g'); do
		a=$("${cc[@]}" -print-file-name="lib$a.a")
		[ ! -e "$a" ] || nm "$a" --defined-only --extern-only 2>/dev/null | awk 'NF == 3 { print $3 }'
	done
}
ok "no name is one of jansson's or libcrypto's" eval '! archives | grep -xFf <(declared)'

# Of all functions only those of the installed headers can be seen, and the library neither prints nor exits.
defined() { nm "$@" --defined-only --extern-only | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | grep -v '^__\(asan\|odr\)' | sort; }
ok "tokenizer/library.exports is what the headers declare" same <(declared) <(grep -v '^#' "$TOP/tokenizer/library.exports" | sort)
ok "the shared library shows that" same <(declared) <(defined -D usr/lib/libberttools-tokenizer.so)
ok "the static library shows that" same <(declared) <(defined usr/lib/libberttools-tokenizer.a)
prints() { nm -u usr/lib/libberttools-tokenizer.a | grep -wE 'v?f?printf|puts|fputs|fputc|putchar|fwrite|stdout|stderr|perror|_?exit|abort|signal|sigaction|atexit'; }
ok "it neither prints nor exits" eval '! prints'

ok "make uninstall" made uninstall
ok "leaves no file" test -z "$(find usr ! -type d)"
echo "1..$n"
