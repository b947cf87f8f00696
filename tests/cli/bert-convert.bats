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
