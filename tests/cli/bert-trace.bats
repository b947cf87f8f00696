# bert-trace: from an instance to its text.

load helpers

shard() { bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 48 --dupe-factor 1 "$@"; }

# piece FILE BEGIN END: those bytes.
piece() { tail -c +"$(($2 + 1))" "$1" | head -c "$(($3 - $2))"; }

# Every segment of every instance leads to a document with its key, and to lines that hold its tokens.
check_all() {
	local n line file from to text
	for ((n = 0; n < $(bert-cat "$1" | wc -l); n += 7)); do
		bert-trace "$1:$n" "${@:2}" >traced
		[ "$(wc -l <traced)" = "$(bert-cat --skip "$n" --count 1 --text "$1" | grep -c '^  [a-z+]:')" ]
		while read -r line; do
			[ "$(jq '.places | length > 0' <<<"$line")" = true ]
			read -r file from to < <(jq -r '.places[0] | [.segment_file, .segment[]] | join(" ")' <<<"$line")
			piece "$file" "$from" "$to" >lines
			text=$(bert-tokenize --vocab "$DATA/man/vocab.txt" --to ids lines | tr '\n' ' ')
			[ -n "$text" ]
			read -r file from to < <(jq -r '.places[0] | [.file, .document[]] | join(" ")' <<<"$line")
			if [ "$file" = "$(jq -r .places[0].segment_file <<<"$line")" ]; then
				piece "$file" "$from" "$to" >doc
				bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs doc | bert-cat | jq -r .key >key
				[ "$(cat key)" = "$(jq -r .key <<<"$line")" ]
				# the segment's tokens are among those of its lines
				bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs doc | bert-cat |
					jq -c --argjson s "$line" '.sentences | add | .[$s.first:$s.first + $s.length] | join(" ")' -r >ids
				[[ " $text " == *" $(cat ids) "* ]]
			fi
		done <traced
	done
}

@test "segments lead to the lines they were made of" {
	cp "$DATA/man/corpus.txt" corpus.txt
	shard -o out corpus.txt
	check_all out corpus.txt
	shard --shards 3 -o three corpus.txt
	check_all three corpus.txt
	shard --pairs none --cross-documents -o none corpus.txt
	check_all none corpus.txt
	shard --compat google --shards 2 -o google corpus.txt
	check_all google/shard-00001-of-00002.shard corpus.txt
}

@test "tokens that were never split" {
	mkdir m
	cp "$DATA/man/vocab.txt" m
	echo '{"never_split": ["Alice", "the", "Whale,"]}' >m/tokenizer_config.json
	bert-shard --model m --max-seq-length 48 --dupe-factor 1 -o out "$DATA/man/corpus.txt"
	bert-trace out:3 "$DATA/man/corpus.txt" >traced
	jq -es 'all(.places | length > 0) and all(.places[0].segment | length == 2)' traced
	shard -o plain "$DATA/man/corpus.txt"
	not diff -q out/shard-00000-of-00001.shard plain/shard-00000-of-00001.shard
}

@test "packed files, several files, token documents, equal documents, threads" {
	head -n 31 "$DATA/man/corpus.txt" >a
	tail -n +32 "$DATA/man/corpus.txt" >b
	shard -o out a b
	check_all out a b
	cat a b >whole
	gzip -k whole
	bert-trace --threads 1 out:3 whole >one
	bert-trace --threads 5 out:3 whole | cmp one -
	bert-trace out:3 whole.gz | sed 's/whole.gz/whole/g' | cmp one -
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs -o whole.tok whole
	n=$(bert-trace out:3 whole.tok | jq '.places[0].document' | head -n 1)
	[ "$(bert-cat --skip "$n" --count 1 whole.tok | jq -r .key)" = "$(jq -r .key one | head -n 1)" ]
	{ cat whole; echo; cat whole; } >twice
	[ "$(bert-trace out:3 twice | jq '.places | length' | sort -u)" = 2 ]
	[ "$(bert-trace out:3 whole.tok whole | jq -c '[.places[] | keys | length] | sort' | sort -u)" = "[2,4]" ]
}

@test "ids and titles; no files, no vocabulary, no such text" {
	shard -o out "$DATA/man/corpus.txt"
	[ "$(bert-trace out:0 | jq -c '[.places, .id, .title]' | sort -u)" = "[null,null,null]" ]
	[ "$(bert-trace out:0 "$DATA/man/novel.txt" | jq -c .places | sort -u)" = "[]" ]
	rm out/vocab.txt
	[ "$(bert-trace out:0 "$DATA/man/corpus.txt" | jq -c '.places[0] | keys' | sort -u)" = '["document","file"]' ]
	bert-trace --vocab "$DATA/man/vocab.txt" out:0 "$DATA/man/corpus.txt" | jq -e '.places[0].segment' >/dev/null
	exits 1 bert-trace --vocab "$DATA/vocab/bert-base-uncased.txt" out:0 "$DATA/man/corpus.txt"
	says "is not the vocabulary"
}

@test "JSON lines: ids, titles, and the line" {
	local n line from to
	jq -r '.text + "\n"' "$DATA/man/documents.jsonl" >text
	cp "$DATA/man/documents.jsonl" d.jsonl
	shard --from jsonl -o out d.jsonl
	for ((n = 0; n < $(bert-cat out | wc -l); n += 3)); do
		bert-trace "out:$n" d.jsonl >traced
		while read -r line; do
			[ "$(jq '.places | length' <<<"$line")" = 1 ]
			read -r from to < <(jq -r '.places[0].document | join(" ")' <<<"$line")
			piece d.jsonl "$from" "$to" >doc
			[ "$(jq -c '[(.id | tostring), .title]' doc)" = "$(jq -c '[.id, .title]' <<<"$line")" ]
			jq -r .text doc | bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs | bert-cat | jq -r .key >key
			[ "$(cat key)" = "$(jq -r .key <<<"$line")" ]
		done <traced
	done
	gzip -k d.jsonl
	bert-trace --threads 1 out:3 d.jsonl >one
	bert-trace --threads 5 out:3 d.jsonl | cmp one -
	bert-trace --from jsonl out:3 d.jsonl.gz | sed 's/d.jsonl.gz/d.jsonl/' | cmp one -
	[ "$(bert-trace out:3 text d.jsonl text | jq -c '[.places[].file]' | sort -u)" = '["d.jsonl","text","text"]' ]
	[ "$(bert-trace --from text out:3 d.jsonl | jq -c .places | sort -u)" = "[]" ]
	exits 3 bert-trace --from jsonl out:3 text
	says "'text', line 1: not JSON"
}

@test "what is no instance" {
	shard -o out "$DATA/man/corpus.txt"
	exits 2 bert-trace
	exits 2 bert-trace out
	exits 2 bert-trace out:
	exits 2 bert-trace out:x
	exits 2 bert-trace out:1x
	exits 1 bert-trace out:100000
	says "no instance 100000"
	exits 1 bert-trace nothing:1
	exits 1 bert-trace out:1 nothing
}

@test "numbers mean nothing in a folder that lacks shards" {
	shard --shards 3 -o s "$DATA/man/corpus.txt"
	rm s/shard-00001-of-00003.shard
	exits 1 bert-trace s:0
	says "'s' is not complete: 1 of its 3 shards is missing or of another size, number 1"
	exits 0 bert-trace s/shard-00000-of-00003.shard:0
	rm s/manifest.json
	cp s/shard-00000-of-00003.shard s/shard-00001-of-00003.shard
	exits 3 bert-trace "s:$(bert-cat s/shard-00000-of-00003.shard | wc -l)"
	says "in the place of shard 1 of 3"
}

@test "ids and titles with a NUL in them are whole" {
	printf '%s\n' '{"id":"a\u0000b","title":"c\u0000d","text":"The cat sat.\nThe dog ran.\nIt was late."}' >d.jsonl
	shard --pairs none --from jsonl -o out d.jsonl
	[ "$(bert-trace out:0 | jq -c '[.id, .title]' | sort -u)" = '["a\u0000b","c\u0000d"]' ]
}
