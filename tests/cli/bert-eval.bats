# bert-eval: predictions against gold labels.

load helpers

eval_() { bert-eval --task classify "$@"; }

# gold LABEL...: gold.tsv with these labels.
gold() {
	printf 'text\tlabel\n' >gold.tsv
	for label in "$@"; do printf 'some text\t%s\n' "$label" >>gold.tsv; done
}

# predictions LABEL...: p.tsv, as bert-predict writes it.
predictions() {
	local n=0
	printf 'index\tprediction\tprobability\n' >p.tsv
	for label in "$@"; do printf '%d\t%s\t0.500000\n' $((n++)) "$label" >>p.tsv; done
}

# is FILTER JSON: the metrics of gold.tsv and p.tsv.
is() {
	eval_ -q gold.tsv p.tsv >is.json
	jq -e "($1) == ($2)" is.json >/dev/null || { echo "$1 is $(jq -c "$1" is.json), not $2"; return 1; }
}

@test "two classes: F1 of the second" {
	gold 0 1 1 0 1 0 1 1
	predictions 0 1 0 0 1 1 1 1
	is . '{"accuracy":0.75,"f1":0.8,"matthews_correlation":0.466666666666667,"examples":8,"majority":0.625,"labels":["0","1"],"f1_of":"1","warnings":[]}'
	exits 0 eval_ gold.tsv p.tsv
	[ "${lines[0]}" = "{" ]
	[ "${lines[1]}" = '  "accuracy": 0.75,' ]
}

@test "other numbers of classes: macro F1" {
	gold a b c c b a c b a c
	predictions a c c c b a b b c c
	is '[.accuracy, .f1, .matthews_correlation, .f1_of]' '[0.7,0.711111111111111,0.547142224545632,"macro"]'
	gold b b
	predictions b b
	is '[.accuracy, .f1, .matthews_correlation, .majority, .labels, .f1_of]' '[1,1,0,1,["b"],"macro"]'
}

@test "classes are sorted by bytes, whichever comes first" {
	gold Yes no no Yes
	predictions no no no Yes
	is '[.labels, .f1_of, .f1]' '[["Yes","no"],"no",0.8]'
	gold é z 10 9
	predictions é z 10 9
	is .labels '["10","9","z","é"]'
}

@test "a prediction that gold lacks is wrong, and said" {
	gold a b b a
	predictions a c b b
	is '[.accuracy, .labels, .f1_of]' '[0.5,["a","b","c"],"macro"]'
	exits 0 eval_ gold.tsv p.tsv
	says "bert-eval: 1 prediction, the first 'c', is no label of 'gold.tsv'"
}

@test "predictions of one class are said, unless quiet" {
	gold a b b
	predictions b b b
	exits 0 eval_ gold.tsv p.tsv
	says "bert-eval: all predictions are 'b'"
	is .warnings "[\"all predictions are 'b'\"]"
	eval_ -q gold.tsv p.tsv 2>err
	[ ! -s err ]
}

@test "gold: another column, no header, JSON lines, packed, standard input" {
	gold a b b
	predictions a b a
	eval_ gold.tsv p.tsv >wanted
	printf 'Gold\tid\tLABELS\na\t1\tx\nb\t2\tx\nb\t3\ty\n' >other.tsv
	eval_ --label gold other.tsv p.tsv | cmp - wanted
	tail -n +2 other.tsv | eval_ --no-header - p.tsv | cmp - wanted
	printf 'a\nb\nb\n' | eval_ --no-header - p.tsv | cmp - wanted
	printf '{"label": "a"}\n{"x": [1], "label": "b"}\n\n{"LABEL": "b", "text": null}\n' >gold.jsonl
	eval_ gold.jsonl p.tsv | cmp - wanted
	gzip -k gold.tsv
	eval_ gold.tsv.gz p.tsv | cmp - wanted
	eval_ gold.tsv - <p.tsv | cmp - wanted
}

@test "predictions: GLUE's submission files, no index, JSON lines" {
	gold 0 1 1
	predictions 0 1 0
	eval_ gold.tsv p.tsv >wanted
	cut -f 1,2 p.tsv | eval_ gold.tsv - | cmp - wanted
	cut -f 2 p.tsv | eval_ gold.tsv - | cmp - wanted
	printf '{"index": %d, "prediction": %d}\n' 0 0 1 1 2 0 | eval_ gold.tsv - | cmp - wanted
}

@test "-o makes the file whole or not at all" {
	gold a b
	predictions a b
	eval_ gold.tsv p.tsv >wanted
	[ -z "$(eval_ -o out.json gold.tsv p.tsv)" ]
	cmp out.json wanted
	echo old >out.json
	predictions a
	exits 3 eval_ -o out.json gold.tsv p.tsv
	[ "$(cat out.json)" = old ]
	[ "$(find . -name '.*.tmp' | wc -l)" -eq 0 ]
	predictions a b
	exits 1 bash -c 'bert-eval --task classify gold.tsv p.tsv > /dev/full'
}

@test "bad: numbers of rows" {
	gold a b b
	predictions a b
	exits 3 eval_ gold.tsv p.tsv
	says "'gold.tsv' has 3 rows, the last in line 4, but 'p.tsv' 2, the last in line 3"
	predictions a b b b
	exits 3 eval_ gold.tsv p.tsv
	says "'gold.tsv' has 3 rows, the last in line 4, but 'p.tsv' 4, the last in line 5"
	printf 'index\tprediction\n' >p.tsv
	exits 3 eval_ gold.tsv p.tsv
	says "'p.tsv' has no rows"
	: >gold.tsv
	exits 3 eval_ gold.tsv p.tsv
	says "'gold.tsv' has no rows"
}

@test "bad: an index out of order" {
	gold a b b
	predictions a b b
	sed -i 's/^1/2/' p.tsv
	exits 3 eval_ gold.tsv p.tsv
	says "'p.tsv', line 3: index is '2', but this is row 1"
	printf 'index\tprediction\n1\ta\n2\tb\n3\tb\n' >p.tsv
	exits 3 eval_ gold.tsv p.tsv
	says "'p.tsv', line 2: index is '1', but this is row 0"
}

@test "bad: labels" {
	gold a '' b
	predictions a a b
	exits 3 eval_ gold.tsv p.tsv
	says "'gold.tsv', line 3: the label is empty"
	gold a b b
	predictions a '' b
	exits 3 eval_ gold.tsv p.tsv
	says "'p.tsv', line 3: the label is empty"
	predictions 0 1 1
	exits 3 eval_ gold.tsv p.tsv
	says "'p.tsv', line 2: neither '0' nor any other prediction is a label of 'gold.tsv', such as 'a'"
	printf '%d\ttext\n' $(seq 10001) >gold.tsv
	exits 3 eval_ --no-header gold.tsv p.tsv
	says "'gold.tsv', line 10001: there are more than 10000 different labels"
}

@test "bad: tables" {
	gold a b
	predictions a b
	exits 3 eval_ --label gold gold.tsv p.tsv
	says "'gold.tsv', line 1: no column 'gold' (--label); the columns are 'text', 'label'"
	exits 3 eval_ p.tsv gold.tsv
	says "'p.tsv', line 1: no column 'label'"
	exits 3 eval_ gold.tsv gold.tsv
	says "'gold.tsv', line 1: no column 'prediction'; the columns are 'text', 'label'"
	printf '1\n' >>p.tsv
	exits 3 eval_ gold.tsv p.tsv
	says "'p.tsv', line 4: 1 cell, but the first line has 3"
	printf '{"label": "a"}\n{"label": "b"\n' >gold.jsonl
	exits 3 eval_ gold.jsonl p.tsv
	says "'gold.jsonl', line 2: not a JSON object: "
	gzip gold.tsv
	head -c 30 gold.tsv.gz >cut.gz
	exits 3 eval_ cut.gz p.tsv
	says "cut.gz"
}

@test "usage, and missing files" {
	gold a
	predictions a
	exits 2 bert-eval gold.tsv p.tsv
	says "no task"
	exits 2 bert-eval --task sentiment gold.tsv p.tsv
	says "classify"
	exits 2 eval_ gold.tsv
	exits 2 eval_ gold.tsv p.tsv p.tsv
	exits 2 eval_ - -
	says "standard input ('-') is given twice"
	exits 1 eval_ /nonexistent/gold p.tsv
	says "/nonexistent/gold"
	exits 1 eval_ gold.tsv /nonexistent/predictions
	says "/nonexistent/predictions"
}
