# bert-shard --masking-words: words of single characters, masked whole by all who draw masks.

load helpers

words() { bert-shard --vocab "$DATA/man/chinese-vocab.txt" --masking-words "${list:-$DATA/man/chinese-words.txt}" "$@"; }

# documents N: N documents of the sentences there are, each in another order.
documents() {
	for i in $(seq "$1"); do
		grep . "$DATA/man/chinese.txt" | awk -v s="$i" '{ line[NR] = $0 } END { for (k = 0; k < 6; k++) print line[1 + (s * 7 + k * (1 + s % 9)) % NR] }'
		echo
	done
}

# torn FOLDER [OPTIONS...]: how often 图书馆 is masked in part.
torn() {
	bert-cat --tokens "$@" | jq -c '[.tokens, .masked_lm_positions, .masked_lm_ids]' |
		jq -s --rawfile vocab "$DATA/man/chinese-vocab.txt" '($vocab | split("\n")) as $v | [.[] | . as [$t, $p, $l]
			| ($t | to_entries | map(.key as $k | ($p | index($k)) as $m | if $m then [$v[$l[$m]], true] else [.value, false] end)) as $is
			| range(0; ($is | length) - 2) as $k | select([$is[$k, $k + 1, $k + 2][0]] == ["图", "书", "馆"])
			| [$is[$k, $k + 1, $k + 2][1]] | unique | length > 1] | [(map(select(.)) | length), length]' -c
}

@test "static masks: listed words are masked whole, whatever the threads, and drawn again" {
	documents 40 >in
	words --shards 2 --dupe-factor 3 --masked-lm-prob 0.3 --max-predictions-per-seq 40 --threads 1 -o one in
	words --shards 2 --dupe-factor 3 --masked-lm-prob 0.3 --max-predictions-per-seq 40 --threads 3 --memory 16M -o three in
	for f in one/*; do cmp "$f" "three/${f##*/}"; done
	bert-verify one >said
	[ "$(grep -c "masks drawn again" said)" = 2 ]
	grep -q "^one/masking-words.txt: ok, 31 words$" said
	torn one >counts
	jq -e '.[0] == 0 and .[1] > 20' counts
	bert-shard --vocab "$DATA/man/chinese-vocab.txt" --whole-word-mask --shards 2 --dupe-factor 3 --masked-lm-prob 0.3 --max-predictions-per-seq 40 -o characters in
	torn characters >counts
	jq -e '.[0] > 5' counts
	[ "$(jq -c '[.recipe.whole_word_mask, .recipe.masking_words.words]' one/manifest.json)" = '[true,31]' ]
	[ "$(sha256sum <one/masking-words.txt | cut -d' ' -f1)" = "$(jq -r .recipe.masking_words.sha256 one/manifest.json)" ]
	exits 1 bert-diff one characters
	exits 0 bert-diff --unmasked one characters
}

@test "the list's order, doubles and useless lines change nothing; another list does" {
	documents 10 >in
	words -o one in
	{ echo English; tac "$DATA/man/chinese-words.txt"; printf '\n书\r\n'; cat "$DATA/man/chinese-words.txt"; } >list
	list=list words -o other in
	cmp one/masking-words.txt other/masking-words.txt
	for f in one/*.shard; do cmp "$f" "other/${f##*/}"; done
	list=list words -o one in
	head -n 9 "$DATA/man/chinese-words.txt" >list
	list=list exits 1 words -o one in
	says "recipe.masking_words"
	exits 1 bert-shard --vocab "$DATA/man/chinese-vocab.txt" --whole-word-mask -o one in
	says "recipe"
}

@test "dynamic masks: readers draw words by the list beside the shards" {
	documents 30 >in
	words --masking dynamic --shards 2 -o set in
	torn --epoch 5 set >counts
	jq -e '.[0] == 0 and .[1] > 5' counts
	not cmp -s <(bert-cat --epoch 1 set) <(bert-cat --epoch 2 set)
	cmp <(bert-cat --epoch 1 set) <(bert-cat --epoch 1 --count 100000 set)
	exits 0 bert-diff --epoch 3 set set
	bert-export --to tfrecord --epoch 5 -o export set
	bert-import --vocab "$DATA/man/chinese-vocab.txt" -o back export/*.tfrecord
	cmp <(bert-cat set --epoch 5 | jq -c '[.input_ids, .masked_lm_positions]') <(bert-cat back | jq -c '[.input_ids, .masked_lm_positions]')
	bert-stat set >stat
	jq -e '.instances > 0' stat
	bert-trace set/shard-00000-of-00002.shard:0 in >trace
	[ "$(jq -s length trace)" = 2 ]
}

@test "a list that is gone, damaged or another's is told, and made again" {
	documents 30 >in
	words --masking dynamic -o set in
	cp -r set static
	words -o still in
	echo 图书 >>still/masking-words.txt
	exits 3 bert-verify still
	says "still/masking-words.txt: fault: line 32 is not in the order of bytes"
	says "masks not drawn again (no list of words)"
	head -n 30 set/masking-words.txt >still/masking-words.txt
	exits 3 bert-verify still
	says "still/masking-words.txt: fault: it is not the list of words that the shards were made with"
	cp still/masking-words.txt set/
	exits 1 bert-cat --epoch 1 set
	says "is needed and is not beside it (masking-words.txt)"
	exits 1 bert-cat --epoch 1 --count 1 set
	exits 1 bert-export --to hdf5 --epoch 1 -o export set
	says "is needed and is not beside it (masking-words.txt)"
	bert-cat set >/dev/null
	bert-shard --status set >said
	grep -q "^masking-words.txt: missing or damaged$" said
	words --masking dynamic -o set in
	bert-verify set
	rm set/masking-words.txt
	exits 3 bert-verify set
	says "set/masking-words.txt: fault: missing"
	words --masking dynamic -o set in
	bert-verify set
	mkdir fresh
	echo 中国 >fresh/masking-words.txt
	exits 1 words -o fresh in
	says "'fresh/masking-words.txt' is another list of words"
	[ "$(cat fresh/masking-words.txt)" = 中国 ]
}

@test "stages and parts take the list as well" {
	documents 60 >in
	words --shards 4 -o whole in
	for i in 0 1; do words --shards 4 --stage index --part $i/2 -o parts in; done
	words --shards 4 --stage plan -o parts in
	for i in 1 0; do words --shards 4 --stage write --part $i/2 -o parts in; done
	for f in whole/*.shard whole/*.txt; do cmp "$f" "parts/${f##*/}"; done
}

@test "bad lists are refused, with the line" {
	documents 2 >in
	printf '中国\n首都 300 n\n' >list
	list=list exits 3 words -o out in
	says "'list': line 2 has white space in it"
	printf '中国\n\377\n' >list
	list=list exits 3 words -o out in
	says "'list': line 2 is not UTF-8"
	printf 'England\nFrance\n' >list
	list=list exits 3 words -o out in
	says "has no word that is two or more tokens"
	: >list
	list=list exits 3 words -o out in
	says "'list' is empty"
	list=missing exits 1 words -o out in
	says "missing"
	truncate -s 65M list
	list=list exits 3 words -o out in
	exits 2 words --compat google -o out in
	[ ! -e out ]
	{ cat "$DATA/man/chinese-words.txt"; seq 100 140; } >list
	list=list exits 0 words -o out in
	says "41 lines of 'list' are of no use"
}

@test "the words of a segmenter: a warning where they are not listed; the list by a pipe, which masks them whole" {
	documents 40 >in
	segmenter="sed -E 's/$(paste -sd '|' "$DATA/man/chinese-words.txt")|./& /g'"
	bert-tokenize --vocab "$DATA/man/chinese-vocab.txt" --segmenter "$segmenter" --to docs -o in.tok in
	cut() { bert-shard --vocab "$DATA/man/chinese-vocab.txt" --dupe-factor 3 --masked-lm-prob 0.3 --max-predictions-per-seq 40 "$@"; }
	exits 0 cut --whole-word-mask -o characters in.tok
	says "Chinese characters are masked one by one, not the words that 'sed -E "
	[ "${#lines[@]}" = 1 ]
	torn characters >counts
	jq -e '.[0] > 5' counts
	sh -c "$segmenter" <in | tr ' ' '\n' | grep .. | sort -u >list
	exits 0 bash -c 'bert-shard --vocab "$DATA/man/chinese-vocab.txt" --dupe-factor 3 --masked-lm-prob 0.3 --max-predictions-per-seq 40 --masking-words - -o words in.tok <list'
	[ -z "$output" ]
	torn words >counts
	jq -e '.[0] == 0 and .[1] > 20' counts
	bert-verify words
	# the same by name, by a pipe with a name, in stages that are each given the list, and where nothing is left to do
	cut --masking-words list -o named in.tok
	diff -r words named
	cut --masking-words <(cat list) -o piped in.tok
	diff -r words piped
	for stage in "index --part 0/2" "index --part 1/2" plan "write --part 0/1"; do
		# shellcheck disable=SC2086
		cut --masking-words - --stage $stage -o staged in.tok <list
	done
	diff -r words staged
	cut --masking-words - -o staged in.tok <list
	# text needs no warning, nor do characters that are not split
	exits 0 cut --whole-word-mask -o text in
	[ -z "$output" ]
	bert-tokenize --vocab "$DATA/man/chinese-vocab.txt" --segmenter "$segmenter" --split-cjk no --to docs -o whole.tok in
	exits 0 cut --whole-word-mask -o whole whole.tok
	[[ "$output" != *"one by one"* ]]
	exits 0 cut -o pieces in.tok
	[ -z "$output" ]
	exits 2 cut --masking-words - -o out
	says "standard input is the list"
	exits 2 cut --masking-words - -o out in -
	[ ! -e out ]
}

# pieces: the corpus as a segmenter cuts it, whose words are pieces of characters, as seg.tok; and a vocabulary for that, pieces.txt.
pieces() {
	{ cat "$DATA/man/chinese-vocab.txt"; tail -n +6 "$DATA/man/chinese-vocab.txt" | sed '/[。，]/d; s/^/##/'; } >pieces.txt
	documents 40 | sed -E "s/$(sort -r "$DATA/man/chinese-words.txt" | paste -sd '|')/ & /g" >cut
	bert-tokenize --vocab pieces.txt --split-cjk no --to docs -o seg.tok cut
}

@test "--plain-cjk: pieces tell whole words, and who reads gets plain characters" {
	pieces
	bert-shard --vocab pieces.txt --plain-cjk --whole-word-mask --shards 2 --dupe-factor 3 --masked-lm-prob 0.3 --max-predictions-per-seq 40 -o set seg.tok
	bert-cat --tokens set >got
	not grep -q '##' got
	jq -e '.recipe.read_as == [[72, 136, 6]] and .recipe.tokenizer.cjk == false' set/manifest.json
	bert-verify set >said
	[ "$(grep -c "masks drawn again" said)" = 2 ]
	# The same but for that: whole words by their pieces, which stand in both.
	bert-shard --vocab pieces.txt --whole-word-mask --shards 2 --dupe-factor 3 --masked-lm-prob 0.3 --max-predictions-per-seq 40 -o bare seg.tok
	bert-cat --tokens bare >was
	grep -q '##' was
	sed 's/"##\([^"]\)"/"\1"/g' was | jq -c .tokens | cmp - <(jq -c .tokens got)
	plain() { jq -c 'map(if . >= 72 and . <= 136 then . - 66 else . end)'; }
	jq -c .masked_lm_ids was | plain | cmp - <(jq -c .masked_lm_ids got)
	jq -c .input_ids was | plain | cmp - <(jq -c .input_ids got)
	exits 1 bert-diff set bare
	# Exports and what comes back of them are what a reader gets.
	bert-export --to tfrecord -o out set
	bert-import --vocab pieces.txt -o back out/*.tfrecord
	bert-cat set | jq -c '[.input_ids, .masked_lm_ids]' | sort | cmp - <(bert-cat back | jq -c '[.input_ids, .masked_lm_ids]' | sort)
}

@test "--plain-cjk: dynamic masks are drawn by pieces; a model made of them has a plain tokenizer" {
	pieces
	bert-tokenize --vocab pieces.txt --split-cjk no --segmenter cat --to docs -o seg.tok cut
	bert-shard --vocab pieces.txt --plain-cjk --whole-word-mask --masking dynamic -o set seg.tok
	bert-shard --vocab pieces.txt --whole-word-mask --masking dynamic -o bare seg.tok
	for epoch in 0 7; do
		bert-cat --epoch $epoch bare | jq -c '[.input_ids, .masked_lm_ids] | map(map(if . >= 72 and . <= 136 then . - 66 else . end))' |
			cmp - <(bert-cat --epoch $epoch set | jq -c '[.input_ids, .masked_lm_ids]')
	done
	bert-cat --epoch 7 --skip 3 --count 2 set | cmp - <(bert-cat --epoch 7 set | sed -n 4,5p)
	echo '{"vocab_size": 137, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 128, "type_vocab_size": 2}' >config.json
	bert-train -q --data set --config config.json --steps 1 --batch 4 -o run
	jq -e '.tokenize_chinese_chars == true and (has("segmenter") | not)' run/checkpoint-1/tokenizer_config.json
}

@test "--plain-cjk is refused where there are no pieces; with and without it are two sets" {
	pieces
	exits 1 bert-shard --vocab pieces.txt --plain-cjk -o set "$DATA/man/chinese.txt"
	says "--split-cjk no"
	bert-tokenize --vocab "$DATA/man/chinese-vocab.txt" --split-cjk no --to docs -o none.tok cut
	exits 1 bert-shard --vocab "$DATA/man/chinese-vocab.txt" --plain-cjk -o set none.tok
	says "no Chinese character both by itself and after ##"
	mkdir model && cp pieces.txt model/vocab.txt
	exits 1 bert-shard --model model --plain-cjk -o set seg.tok
	says "which 'model' does not have: give its vocabulary by --vocab"
	exits 2 bert-shard --vocab pieces.txt --plain-cjk --masking-words "$DATA/man/chinese-words.txt" -o set seg.tok
	[ ! -e set ]
	bert-shard --vocab pieces.txt --plain-cjk --whole-word-mask -o set seg.tok
	exits 1 bert-shard --vocab pieces.txt --whole-word-mask -o set seg.tok
	says "recipe"
}
