# bert-forward: padded tensors through a model. That the numbers are right is tests/unit/model's to say.

load helpers

setup_file() { export MODEL="$TOP/tests/data/model/tiny" INPUT="$TOP/tests/data/model/none.safetensors"; }

# header FILE: the JSON header of a safetensors file.
header() { tail -c +9 "$1" | head -c "$(($(od -An -tu8 -N8 "$1")))"; }

# shapes FILE: its tensors, "name [shape]" a line.
shapes() { header "$1" | jq -rc 'del(.__metadata__) | to_entries[] | "\(.key) \(.value.shape)"'; }

# copy: a model directory of our own, to be spoilt.
copy() { cp -rL "$MODEL" model; chmod -R u+w model; }

@test "every head's outputs, as transformers names them" {
	while read -r head want; do
		bert-forward -q --head "$head" --model "$MODEL" --input "$INPUT" -o out
		[ "$(shapes out | tr '\n' ' ')" = "$want " ] || { echo "$head: $(shapes out)"; return 1; }
	done <<-'end'
		none last_hidden_state [3,10,16] pooler_output [3,16]
		pretraining prediction_logits [3,10,40] seq_relationship_logits [3,2]
		mlm logits [3,10,40]
		nsp logits [3,2]
		classify logits [3,3]
		span start_logits [3,10] end_logits [3,10]
		tokens logits [3,10,3]
	end
}

@test "config.json says which head; hidden states and attention are there for the asking" {
	bert-forward -q --hidden --attention --model "$MODEL" --input "$INPUT" -o out
	[ "$(shapes out | cut -d ' ' -f 1 | tr '\n' ' ')" = "prediction_logits seq_relationship_logits hidden_states.0 hidden_states.1 hidden_states.2 attentions.0 attentions.1 " ]
	[ "$(shapes out | grep attentions.1)" = "attentions.1 [3,2,10,10]" ]
	[ "$(header out | jq -c .__metadata__)" = '{"format":"pt"}' ]
}

@test "threads and the way out change no byte" {
	for backend in ref cpu; do
		bert-forward -q --backend $backend --threads 1 --model "$MODEL" --input "$INPUT" -o one
		bert-forward -q --backend $backend --threads 2 --model "$MODEL" --input "$INPUT" -o two
		bert-forward -q --backend $backend --model "$MODEL" --input "$INPUT" | cat >three
		cmp one two
		cmp one three
	done
}

@test "a directory of old names" {
	bert-forward --model "$DATA/man/model" --input "$DATA/man/input.safetensors" -o one
	bert-forward -q --model "$MODEL" --input "$DATA/man/input.safetensors" -o two
	cmp one two
}

@test "tensors that are left are told of, unless the head was asked for" {
	exits 0 bert-forward --model "$MODEL" --input "$INPUT" -o out
	says "BertForPreTraining uses 46 of the file's tensors and leaves 4"
	exits 0 bert-forward -v --model "$MODEL" --input "$INPUT" -o out
	says "unused: qa_outputs.weight"
	says "prediction_logits [3, 10, 40]"
	exits 0 bert-forward --head mlm --model "$MODEL" --input "$INPUT" -o out
	[ -z "$output" ]
}

@test "usage" {
	exits 2 bert-forward --input "$INPUT" -o out
	says "give one with --model DIR"
	exits 2 bert-forward --model "$MODEL" -o out
	says "give one with --input FILE"
	exits 2 bert-forward --backend gpu --model "$MODEL" --input "$INPUT" -o out
	exits 2 bert-forward --model "$MODEL" --input "$INPUT" -o out more
	exits 2 script -qec "bert-forward -q --model $MODEL --input $INPUT" /dev/null
	says "not for a terminal"
	nothing_in .
}

@test "a backend that is not in this build" {
	exits 1 bert-forward --backend cuda --model "$MODEL" --input "$INPUT" -o out
	says "backend 'cuda' is not in this build"
}

@test "what is missing is named" {
	exits 1 bert-forward --model /nonexistent/dir --input "$INPUT" -o out
	says "/nonexistent/dir/config.json"
	exits 1 bert-forward --model "$MODEL" --input /nonexistent/file -o out
	says "/nonexistent/file"
	exits 1 bert-forward --model "$MODEL" --input "$MODEL/model.safetensors" -o out
	says "it has no tensor 'input_ids'"
	copy
	mv model/model.safetensors model/pytorch_model.bin
	exits 1 bert-forward --model model --input "$INPUT" -o out
	says "'pytorch_model.bin' is not read"
	sed -i 's/BertForPreTraining/BertForMultipleChoice/' model/config.json
	exits 1 bert-forward --model model --input "$INPUT" -o out
	says "names none of the architectures that are known here"
	[ ! -e out ]
}

@test "what does not fit is named" {
	copy
	sed -i 's/"num_hidden_layers": 2/"num_hidden_layers": 3/' model/config.json
	exits 1 bert-forward --model model --input "$INPUT" -o out
	says "16 tensors are missing, the first is 'bert.encoder.layer.2.attention.self.query.weight'"
	sed -i 's/"num_hidden_layers": 3/"num_hidden_layers": 2/; s/"vocab_size": 40/"vocab_size": 30/' model/config.json
	exits 1 bert-forward --model model --input "$INPUT" -o out
	says "is [40, 16], and config.json makes it [30, 16]"
	rm -rf model
	copy
	for i in $(seq 1 41); do echo "w$i"; done >model/vocab.txt
	exits 1 bert-forward --model model --input "$INPUT" -o out
	says "has 41 tokens"
	[ ! -e out ]
}

@test "config.json that cannot be" {
	copy
	sed -i 's/"num_attention_heads": 2/"num_attention_heads": 3/' model/config.json
	exits 3 bert-forward --model model --input "$INPUT" -o out
	says "'hidden_size' 16 is no multiple of 'num_attention_heads' 3"
	sed -i 's/"hidden_size": 16/"hidden_size": 1e99/' model/config.json
	exits 3 bert-forward --model model --input "$INPUT" -o out
	says "'hidden_size' is no whole number"
	echo '{' >model/config.json
	exits 3 bert-forward --model model --input "$INPUT" -o out
	says "line"
	[ ! -e out ]
}

@test "files that are cut or lie" {
	copy
	head -c 20000 "$MODEL/model.safetensors" >model/model.safetensors
	exits 3 bert-forward --model model --input "$INPUT" -o out
	says "model/model.safetensors"
	head -c 100 "$INPUT" >in
	exits 3 bert-forward --model "$MODEL" --input in -o out
	says "'in'"
	: >in
	exits 3 bert-forward --model "$MODEL" --input in -o out
	sed 's/"shape":\[3,10\]/"shape":[3,90]/' "$INPUT" >in
	exits 3 bert-forward --model "$MODEL" --input in -o out
	says "which is not its shape's size"
	[ ! -e out ]
}

@test "weights that are cut, overlap or lie about sizes" {
	copy
	bad_safetensors model/model.safetensors bert-forward --model model --input "$INPUT" -o out
	[ ! -e out ]
	bert-forward -q --model model --input "$INPUT" -o out
}

@test "a disk that is full, a folder that is not there" {
	exits 1 bert-forward -q --model "$MODEL" --input "$INPUT" -o /dev/full
	says "/dev/full"
	exits 1 bert-forward -q --model "$MODEL" --input "$INPUT" -o no/such/out
	says "no/such/out"
	exits 1 bash -c "bert-forward -q --model $MODEL --input $INPUT >/dev/full"
	nothing_in .
}
