# What every program must do alike: help, version, usage errors, full disks, closed pipes, a man page
# that names every option, a missing file named.

load helpers

programs() { ls "$BIN"; }

@test "--help goes to stdout, names the program, exits 0" {
	for p in $(programs); do
		"$p" --help >help 2>err || { echo "$p: $?"; return 1; }
		[ ! -s err ] || { echo "$p wrote to stderr"; return 1; }
		grep -q "^usage: $p" help || { echo "$p: no usage line"; return 1; }
		for option in --threads --quiet --verbose --version --help; do
			grep -q -e "$option" help || { echo "$p: no $option"; return 1; }
		done
	done
}

@test "--version names berttools and the features built in" {
	for p in $(programs); do
		exits 0 "$p" --version
		[[ "${lines[0]}" =~ ^$p\ \(berttools\)\ [0-9]+\.[0-9]+\.[0-9]+ ]] || { echo "${lines[0]}"; return 1; }
		[ "${#lines[@]}" -ge 2 ]
	done
}

@test "bad usage: two lines on stderr, nothing on stdout, exit 2" {
	for p in $(programs); do
		status=0
		"$p" --no-such-option >out 2>err || status=$?
		[ "$status" -eq 2 ] || { echo "$p: exit $status"; return 1; }
		[ ! -s out ]
		[ "$(wc -l <err)" -eq 2 ] || { cat err; return 1; }
		grep -q "^$p: unknown option '--no-such-option'" err || { cat err; return 1; }
	done
}

@test "help onto a full disk fails" {
	for p in $(programs); do
		exits 1 bash -c "$p --help > /dev/full"
		exits 1 bash -c "$p --version > /dev/full"
	done
}

@test "a closed pipe ends a program silently" {
	for p in $(programs); do
		run bash -c "$p --help | true"
		[ -z "$output" ] || { echo "$p: $output"; return 1; }
	done
}

@test "the man page and --help name the same options" {
	for p in $(programs); do
		page="$TOP/tools/$p.1"
		"$p" --help | grep -oE -- '(^|[^-A-Za-z0-9])--[a-z0-9][a-z0-9-]*' | grep -oE -- '--.*' | sort -u >in-help
		sed 's/\\-/-/g' "$page" | grep -oE -- '(^|[^-A-Za-z0-9])--[a-z0-9][a-z0-9-]*' | grep -oE -- '--.*' | sort -u >in-page
		missing=$(comm -23 in-help in-page)
		[ -z "$missing" ] || { echo "$p.1 lacks: $missing"; return 1; }
		sed 's/\\-/-/g; s/\\f[BIRP]//g' "$page" | awk '/^\.SH OPTIONS/ { on = 1; next } /^\.SH/ { on = 0 } on && tag { print; tag = 0 } /^\.TP/ { tag = 1 }' |
			grep -oE -- '--[a-z0-9][a-z0-9-]*' | sort -u >defined
		extra=$(comm -13 in-help defined)
		[ -z "$extra" ] || { echo "$p.1 has options that --help lacks: $extra"; return 1; }
	done
}

@test "the man page lists the exit codes" {
	for p in $(programs); do
		for code in 0 1 2 3; do
			awk '/^\.SH "?EXIT STATUS/ { on = 1; next } /^\.SH/ { on = 0 } on' "$TOP/tools/$p.1" | grep -qE "(^|[^0-9])$code([^0-9]|\$)" || { echo "$p.1: $code"; return 1; }
		done
	done
}

@test "a missing file is named, exit 1" {
	for p in bert-extract bert-sentences bert-cat bert-verify bert-stat; do
		exits 1 "$p" /nonexistent/file
		says "/nonexistent/file"
		says "$p: "
	done
	exits 1 bert-vocab --size 1000 /nonexistent/file
	says "/nonexistent/file"
	exits 1 bert-tokenize --vocab /nonexistent/vocab
	says "/nonexistent/vocab"
	exits 1 bert-shard --vocab /nonexistent/vocab -o out /nonexistent/file
	says "/nonexistent/vocab"
	nothing_in out
	exits 1 bert-split --split held=0.1 -o out /nonexistent/file
	says "/nonexistent/file"
}

@test "a full disk under standard output fails, exit 1" {
	cp "$DATA"/man/corpus.txt "$DATA"/man/vocab.txt .
	exits 1 bash -c 'bert-sentences corpus.txt > /dev/full'
	exits 1 bash -c 'bert-tokenize --vocab vocab.txt corpus.txt > /dev/full'
	exits 1 bash -c 'bert-extract --from text corpus.txt > /dev/full'
	exits 1 bash -c 'bert-vocab --size 300 corpus.txt > /dev/full'
}

@test "a reader that goes away ends a program by SIGPIPE, silently" {
	for i in $(seq 1 4000); do cat "$DATA/man/corpus.txt"; echo; done >big.txt
	run bash -c "bert-tokenize --vocab '$DATA/man/vocab.txt' big.txt | head -n 1 >/dev/null; echo \${PIPESTATUS[0]}"
	[ "$output" = 141 ] || { echo "$output"; return 1; }
	run bash -c "bert-sentences big.txt | head -n 1 >/dev/null; echo \${PIPESTATUS[0]}"
	[ "$output" = 141 ] || { echo "$output"; return 1; }
}

@test "shards of another version are named, with their version, the one that is read, and what to do" {
	local v what
	cp -r "$DATA/versions" .
	bert-shard --vocab "$DATA/man/vocab.txt" -o now "$DATA/man/corpus.txt"
	cp "$DATA/man/vocab.txt" versions/1
	cp "$DATA/man/vocab.txt" versions/3
	for v in 1 3; do
		what="of version $v, which this program does not read (it reads 2): "
		[ $v = 1 ] || what+="use a newer program, or "
		what+="make it anew, in a new folder"
		for p in bert-cat bert-stat "bert-diff now" "bert-export --to tfrecord -o out" \
			"bert-train --config $DATA/man/config.json --steps 2 -o out --data" "bert-trace versions/$v/shard-00000-of-00002.shard:0"; do
			[[ "$p" = *:0 ]] || p="$p versions/$v"
			# shellcheck disable=SC2086
			exits 3 $p
			says "'versions/$v/shard-00000-of-00002.shard': header: $what"
			[ "${#lines[@]}" -eq 1 ]
			rm -rf out
		done
		exits 3 bert-verify versions/$v
		says "versions/$v/shard-00001-of-00002.shard: fault: header: $what"
		exits 0 bert-shard --status versions/$v
		says "write: 0 of 2 shards, of another version: 0 1"
		says "version: 'versions/$v/shard-00000-of-00002.shard': $what"
		not grep -q missing <<<"$output"
		exits 1 bert-shard --vocab "$DATA/man/vocab.txt" -o versions/$v "$DATA/man/corpus.txt"
	done
	# Without a manifest, and beside one that is missing.
	rm -r versions/1/manifest.json versions/3/shard-00001-of-00002.shard
	exits 1 bert-shard --vocab "$DATA/man/vocab.txt" -o versions/1 "$DATA/man/corpus.txt"
	exits 0 bert-shard --status versions/3
	says "write: 0 of 2 shards, missing: 1, of another version: 0"
	# A manifest of a later version, and one that is merely damaged.
	sed 's/"version":1/"version":2/' now/manifest.json >later
	cp later now/manifest.json
	exits 0 bert-shard --status now
	says "manifest: of another version: 'now/manifest.json': of version 2, which this program does not read (it reads 1): use a newer program"
	exits 3 bert-cat now
	says "'now/manifest.json': of version 2, which"
	cmp later now/manifest.json
	echo '{}' >now/manifest.json
	exits 0 bert-shard --status now
	says "manifest: damaged: 'now/manifest.json': "
}
