# bert-stat: numbers that agree with the files, and warnings.

load helpers

shards() {
	local dir=$1
	shift
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 2 --max-seq-length 64 --max-predictions-per-seq 10 --dupe-factor 2 "$@" -o "$dir" "$DATA/man/corpus.txt"
}
tokens() { bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs "$@" >c.tok; cp "$DATA/man/vocab.txt" .; }

@test "the numbers of shards are those of their instances" {
	shards s
	bert-stat s >stat
	bert-cat s >cat
	field() { jq "$1" stat; }
	[ "$(field .instances)" -eq "$(wc -l <cat)" ]
	[ "$(field .documents)" -eq 12 ]
	[ "$(field .tokens)" -eq "$(bert-tokenize --vocab "$DATA/man/vocab.txt" "$DATA/man/corpus.txt" | wc -w)" ]
	[ "$(field .sentences)" -eq "$(grep -c . "$DATA/man/corpus.txt")" ]
	[ "$(field .instance_tokens)" -eq "$(jq -s 'map(.input_ids | length) | add' cat)" ]
	[ "$(field .predictions)" -eq "$(jq -s 'map(.masked_lm_ids | length) | add' cat)" ]
	jq -e --slurpfile c cat '((.random_next_share - (($c | map(.next_sentence_label) | add) / ($c | length))) | fabs) < 1e-5' stat >/dev/null
	jq -e '((.padding_share - (1 - .instance_tokens / (.instances * 64))) | fabs) < 1e-5 and ((.mask_rate - .predictions / .instance_tokens) | fabs) < 1e-5' stat >/dev/null
	[ "$(jq '.lengths | add' stat)" -eq "$(field .instances)" ]
	[ "$(jq '.lengths["61-64"]' stat)" -eq "$(jq -s 'map(select((.input_ids | length) > 60)) | length' cat)" ]
	jq -e --slurpfile c cat '((.mask_kinds.mask * .predictions) | round) == ($c | map(. as $i | [.masked_lm_positions[] | $i.input_ids[.]] | map(select(. == 4)) | length) | add)' stat >/dev/null
	jq -e '.sentence_lengths == null and (.warnings | type) == "array"' stat >/dev/null
	bert-stat --threads 1 s | cmp - stat
	bert-stat s/*.shard | cmp - stat
}

@test "dynamic shards have no mask rate" {
	shards s --masking dynamic --dupe-factor 1
	bert-stat s | jq -e '.predictions == 0 and .mask_rate == null and .instances > 0' >/dev/null
}

@test "token documents: lengths of sentences, [UNK]" {
	tokens "$DATA/man/corpus.txt"
	bert-stat c.tok >stat
	jq -e '(.sentence_lengths | add) == .sentences and .instances == 0 and .padding_share == null and .unk_share == 0' stat >/dev/null
	bert-stat - <c.tok | cmp - stat
	printf 'Alice \xe6\x97\xa5 and \xe6\x9c\xac.\n\n' >odd
	tokens odd
	bert-stat c.tok | jq -e '((.unk_share - 2 / .tokens) | fabs) < 1e-5' >/dev/null
}

@test "several paths add up" {
	shards s
	tokens "$DATA/man/corpus.txt"
	[ "$(bert-stat s c.tok c.tok | jq .documents)" -eq 36 ]
}

@test "a blank line after every sentence is warned of, in the JSON and on stderr" {
	sed G "$DATA/man/corpus.txt" >spaced
	tokens spaced
	bert-stat c.tok >out 2>err
	jq -e '.warnings | any(test("have one sentence: is there a blank line after every sentence"))' out >/dev/null
	grep -q '^bert-stat: .*documents have one sentence' err
	bert-stat -q c.tok >quiet 2>err
	[ ! -s err ]
	cmp out quiet
}

@test "paragraphs on lines, and another language, are warned of" {
	tokens "$DATA/man/paragraphs.txt"
	bert-stat c.tok 2>/dev/null | jq -e '.warnings | any(test("tokens on average: is a paragraph on every line"))' >/dev/null
	for i in $(seq 30); do printf 'Κ\xce\xb1λημέρα %s.\n' "$i"; done >greek
	tokens greek
	bert-stat c.tok 2>/dev/null | jq -e '.warnings | any(test("of the tokens are \\[UNK\\]"))' >/dev/null
}

@test "masks that are cut, or can never be so many" {
	shards s --max-predictions-per-seq 3
	bert-stat s 2>/dev/null | jq -e '.warnings | any(test("max_predictions_per_seq cuts masks from"))' >/dev/null
	rm -rf s
	shards s --max-predictions-per-seq 60
	bert-stat s 2>/dev/null | jq -e '.warnings | any(test("no instance can have more than 10 masks"))' >/dev/null
}

@test "without the vocabulary [UNK] is not counted, and that is said" {
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs "$DATA/man/corpus.txt" >c.tok
	bert-stat c.tok 2>err >out
	jq -e '.unk_share == null' out >/dev/null
	grep -q 'was not counted' err
	bert-stat --vocab "$DATA/man/vocab.txt" c.tok 2>err | jq -e '.unk_share == 0' >/dev/null
	[ ! -s err ]
}

@test "damage: exit 3, nothing on stdout" {
	shards s
	truncate -s -5 s/shard-00001-of-00002.shard
	status=0; bert-stat s >out 2>err || status=$?
	[ $status -eq 3 ]
	[ ! -s out ]
	grep -q "s/shard-00001-of-00002.shard" err
	exits 3 bert-stat "$DATA/man/corpus.txt"
	exits 1 bash -c 'bert-stat s/shard-00000-of-00002.shard > /dev/full'
}

@test "a vocabulary of another casing is warned of" {
	sed 's/^[a-z]/\U&/' "$DATA/man/vocab.txt" >capitals.txt
	bert-shard --vocab capitals.txt -o lowered "$DATA/man/corpus.txt"
	bert-stat lowered 2>err >/dev/null
	grep -q "casing and vocabulary do not go together" err
	bert-shard --vocab capitals.txt --cased -o right "$DATA/man/corpus.txt"
	bert-stat right 2>err >/dev/null
	! grep -q "casing" err
	bert-shard --vocab "$DATA/man/vocab.txt" --cased -o cased "$DATA/man/corpus.txt"
	bert-stat cased 2>err >/dev/null
	grep -q "casing and vocabulary do not go together" err
	bert-tokenize --vocab "$DATA/man/vocab.txt" --cased --to docs -o in.tok "$DATA/man/corpus.txt"
	bert-stat --vocab "$DATA/man/vocab.txt" in.tok 2>err >/dev/null
	grep -q "in 1 files casing" err
	exits 1 bert-stat --vocab capitals.txt cased
}
