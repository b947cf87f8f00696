# bert-convert: model directories from one form to another.

load helpers

setup_file() { export MODEL="$TOP/tests/data/model/tiny" OLD="$TOP/tests/data/man/model"; }

# header FILE: the JSON header of a safetensors file.
header() { tail -c +9 "$1" | head -c "$(($(od -An -tu8 -N8 "$1")))"; }

# copy FROM: a model directory of our own, to be changed.
copy() { cp -rL "$1" model; chmod -R u+w model; }

@test "old names become new ones, and the numbers stay" {
	bert-convert "$OLD" new >table
	[ "$(cut -f 1 table | sort | uniq -c | tr -s ' \n' ' ')" = " 46 mapped 1 passed over " ]
	[ "$(ls new | tr '\n' ' ')" = "config.json model.safetensors " ]
	bert-convert --head pretraining "$MODEL" same >/dev/null
	cmp new/model.safetensors same/model.safetensors
	[ "$(header new/model.safetensors | grep -c -e gamma -e position_ids)" -eq 0 ]
}

@test "what is new already comes out byte for byte" {
	bert-convert "$OLD" one >/dev/null
	bert-convert one two >/dev/null
	cmp one/config.json two/config.json
	cmp one/model.safetensors two/model.safetensors
}

@test "without TO, only the table" {
	bert-convert "$OLD" >table
	[ "$(wc -l <table)" -eq 47 ]
	[ "$(awk -F '\t' 'NF != 5' table | wc -l)" -eq 0 ]
	[ "$(ls)" = table ]
}

@test "tensors that would be lost are an error, until one says so" {
	exits 1 bert-convert "$MODEL" new
	says "4 tensors of '$MODEL' are not a BertForPreTraining's"
	says "$(printf 'unused\tqa_outputs.bias\t-\tF32\t[2]')"
	[ ! -e new ]
	bert-convert --drop-unused "$MODEL" new >/dev/null
	bert-convert --head classify "$MODEL" classifier >/dev/null
	[ "$(jq -r .architectures[0] classifier/config.json)" = BertForSequenceClassification ]
	[ "$(jq -c .id2label classifier/config.json)" = '{"0":"negative","1":"neutral","2":"positive"}' ]
	[ "$(header classifier/model.safetensors | jq -c '."classifier.weight".shape')" = "[3,16]" ]
}

@test "an encoder alone has no prefix, and gets it back" {
	bert-convert --head none "$OLD" bare >/dev/null
	header bare/model.safetensors | jq -e 'has("embeddings.word_embeddings.weight") and (has("bert.pooler.dense.bias") | not)'
	exits 1 bert-convert --head pretraining bare again
	says "7 tensors are missing, the first is 'cls.predictions.transform.dense.weight'"
	[ ! -e again ]
}

@test "what a tokenizer needs goes along" {
	copy "$OLD"
	printf '[PAD]\nword\n' >model/vocab.txt
	echo '{"do_lower_case": false}' >model/tokenizer_config.json
	echo secret >model/notes
	bert-convert model new >/dev/null
	cmp model/vocab.txt new/vocab.txt
	cmp model/tokenizer_config.json new/tokenizer_config.json
	[ ! -e new/notes ]
}

@test "members of config.json that mean nothing here are kept" {
	copy "$OLD"
	jq '. + {"transformers_version": "4.1", "torch_dtype": "float16", "gradient_checkpointing": false}' "$OLD/config.json" >model/config.json
	bert-convert model new >/dev/null
	[ "$(jq -c '[.transformers_version, .torch_dtype, .gradient_checkpointing]' new/config.json)" = '["4.1","float32",false]' ]
	grep -q '"layer_norm_eps": 1e-12' new/config.json
}

@test "a model that is there already is not overwritten" {
	bert-convert "$OLD" new >/dev/null
	cp -r new before
	exits 1 bert-convert --head none "$OLD" new
	says "'new' holds a model already"
	exits 1 bert-convert new new
	diff -r new before
}

# rows FILE TENSOR: its rows, numbers with all their digits.
rows() {
	perl -e 'use strict; open my $f, "<:raw", $ARGV[0] or die; read $f, my $n, 8; read $f, my $h, unpack "Q<", $n;
		$h =~ /"\Q$ARGV[1]\E":\{"dtype":"F32","shape":\[(\d+)(?:,(\d+))?\],"data_offsets":\[(\d+),/ or die; my $w = $2 // 1;
		seek $f, $3, 1; for (1 .. $1) { read $f, my $r, 4 * $w; print join(" ", map { sprintf "%.9g", $_ } unpack "f<*", $r), "\n" }' "$1" "$2"
}

# A model whose vocabulary, of 40 rows, has 11 tokens, and text for a larger one.
small() {
	copy "$OLD"
	printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' '[unused0]' '[unused1]' a b '##a' '##b' >model/vocab.txt
	for _ in $(seq 20); do echo abab abba ab bab abab; done >text
}

@test "another vocabulary: rows stay, or are means of their pieces" {
	small
	bert-convert model old >/dev/null
	bert-vocab --extend model/vocab.txt --add 4 text >v
	[ "$(wc -l <v)" -eq 13 ]
	bert-convert --resize-vocab v model new >table
	cmp v new/vocab.txt
	[ "$(jq .vocab_size new/config.json)" -eq 13 ]
	diff <(jq -S 'del(.vocab_size)' old/config.json) <(jq -S 'del(.vocab_size)' new/config.json)
	[ "$(grep -c ^mapped table)" -eq 46 ]
	grep -qxP 'copied\t9 tokens\t9 tokens\t-\t-' table
	[ "$(grep -c ^averaged table)" -eq 4 ]
	[ "$(grep ^dropped table | cut -f 2 | tr '\n' ' ')" = '[unused0] [unused1] ' ]
	grep -qxP 'averaged\ta ##b\tab\t-\t-' table
	for name in bert.embeddings.word_embeddings.weight cls.predictions.bias; do
		rows old/model.safetensors $name >from
		rows new/model.safetensors $name >to
		[ "$(wc -l <to)" -eq 13 ]
		# rows of the old vocabulary, by what the table says of each new token
		awk -F '\t' 'FILENAME == ARGV[1] { id[$1] = FNR; next } FILENAME == ARGV[2] { split($0, x, " "); old[FNR] = $0; next }
			FILENAME == ARGV[3] { if ($1 == "averaged") made[$3] = $2; next }
			{ n = split($1 in made ? made[$1] : $1, p, " "); w = split(old[1], x, " "); out = ""
			  for (c = 1; c <= w; c++) { sum = 0; for (k = 1; k <= n; k++) { split(old[id[p[k]]], x, " "); sum += x[c] } out = out (c > 1 ? " " : "") sum / n }
			  print out }' model/vocab.txt from table v >want
		awk '{ getline w <"want"; n = split(w, x, " "); for (c = 1; c <= n; c++) if (($c - x[c]) ^ 2 > 1e-10) bad = 1 } END { exit bad || NR != 13 }' to
		sed -n 5p from | diff - <(sed -n 5p to)
	done
	for name in bert.embeddings.position_embeddings.weight cls.seq_relationship.weight bert.encoder.layer.1.output.dense.weight; do
		cmp <(rows old/model.safetensors $name) <(rows new/model.safetensors $name)
	done
	# again to what it was: the slots, which the new vocabulary has not, are [UNK] now
	bert-convert --resize-vocab model/vocab.txt new again >table
	[ "$(grep ^unknown table | cut -f 2-3 | tr '\t\n' '  ')" = '[UNK] [unused0] [UNK] [unused1] ' ]
	diff <(rows old/model.safetensors cls.predictions.bias | sed -n '1,5p;8,11p') <(rows again/model.safetensors cls.predictions.bias | sed -n '1,5p;8,11p')
}

@test "another vocabulary: only the table; an encoder alone; other files" {
	small
	printf '%s\n' '[UNK]' '[PAD]' a aab 'c' >v
	bert-convert --resize-vocab v model >table
	[ "$(grep -cE '^(copied|averaged|unknown|dropped)' table)" -eq 11 ]
	[ ! -e new ]
	echo '{"version": "1.0"}' | tee model/tokenizer.json >model/added_tokens.json
	echo '{"unk_token": "[UNK]"}' >model/special_tokens_map.json
	echo '{"do_lower_case": false, "segmenter": "cat", "added_tokens_decoder": {"1": {"content": "[UNK]"}}}' >model/tokenizer_config.json
	bert-convert --head none --resize-vocab v model new >table 2>err
	[ "$(ls new | tr '\n' ' ')" = "config.json model.safetensors special_tokens_map.json tokenizer_config.json vocab.txt " ]
	grep -q "'model/tokenizer.json' holds the old vocabulary, and is left out" err
	grep -q "'model/added_tokens.json' holds" err
	[ "$(jq -c . new/tokenizer_config.json)" = '{"do_lower_case":false,"segmenter":"cat"}' ]
	[ "$(jq -c '[.vocab_size, .pad_token_id]' new/config.json)" = '[5,1]' ]
	[ "$(header new/model.safetensors | jq -c '."embeddings.word_embeddings.weight".shape')" = '[5,16]' ]
	cp v model/vocab.txt
	bert-convert --head none --resize-vocab v model same >table
	[ "$(grep -cE '^(averaged|unknown|dropped)' table)" -eq 0 ]
}

@test "another vocabulary: what cannot be" {
	small
	exits 1 bert-convert --resize-vocab missing model new
	says "'missing'"
	printf 'a\nb\n' >no-unk
	exits 3 bert-convert --resize-vocab no-unk model new
	says "'no-unk': it has no [UNK]"
	[ ! -e new ]
	mkdir full
	bert-convert model full >/dev/null
	exits 1 bert-convert --resize-vocab model/vocab.txt model full
	says "'full' holds a model already"
	rm model/vocab.txt
	exits 1 bert-convert --resize-vocab text model new
	says "model/vocab.txt"
	small
	echo '{"do' >model/tokenizer_config.json
	exits 3 bert-convert --resize-vocab model/vocab.txt model new
	says "model/tokenizer_config.json"
	[ ! -e new/model.safetensors ]
	[ ! -e new/config.json ]
}

@test "usage" {
	exits 2 bert-convert
	exits 2 bert-convert a b c
	exits 2 bert-convert --head rank a b
}

@test "bad models" {
	exits 1 bert-convert /nonexistent/dir new
	says "/nonexistent/dir/config.json"
	copy "$OLD"
	sed -i 's/"architectures"/"architecture"/' model/config.json
	exits 1 bert-convert model new
	says "say which it is"
	bert-convert --head pretraining model said >/dev/null
	sed -i 's/"intermediate_size": 24/"intermediate_size": 0/' model/config.json
	exits 3 bert-convert --head pretraining model new
	says "'intermediate_size' is 0"
	rm -rf model
	copy "$OLD"
	head -c 9000 "$OLD/model.safetensors" >model/model.safetensors
	exits 3 bert-convert model new
	[ ! -e new ]
}

@test "weights that are cut, overlap or lie about sizes" {
	copy "$OLD"
	bad_safetensors model/model.safetensors bert-convert model new
	[ ! -e new ]
	bert-convert model new
}

@test "full disks" {
	exits 1 bash -c "bert-convert $OLD >/dev/full"
	touch file
	exits 1 bert-convert "$OLD" file/new
	says "file/new"
}
