#!/usr/bin/env bash
# curves.sh pretraining|finetuning OUT: an SVG, to stdout, of the losses and learning rates of the demo's runs
# over their steps, drawn by gnuplot from their log.jsonl. The same logs give the same bytes.
set -u -o pipefail
export LC_ALL=C
kind=$1 out=$2

# block NAME LOG FIELD: a gnuplot data block of what LOG says of FIELD, step by step.
block() {
	echo "\$$1 << END"
	jq -r --arg field "$3" 'select((.step | type) == "number" and .data[$field] != null) | "\(.step) \(.data[$field])"' "$2" || return
	echo END
}

# panels PLOT-OF-LOSS: gnuplot's commands for the loss above the learning rate, which is block $rate.
panels() {
	cat <<-END
		set terminal svg size 760,600 font "sans-serif,13" background "white"
		set multiplot layout 2,1
		set lmargin 11
		set grid lc rgb "#dddddd"
		set key top right
		set ylabel "loss, nats"
		plot $1
		set ylabel "learning rate"
		set xlabel "step"
		set format y "%.1e"
		plot \$rate with lines lc rgb "#555555" lw 1.5 notitle
	END
}

pretraining() {
	local log=$out/model/log.jsonl
	block train "$log" masked_lm_loss && block heldout "$log" eval_masked_lm_loss && block rate "$log" learning_rate || return
	panels "\$train with lines lc rgb '#9ecae1' title 'masked tokens, training', \
		\$heldout with linespoints lc rgb '#08519c' lw 2 pt 7 ps 0.6 title 'masked tokens, held out', \
		$(jq .unigram_cross_entropy "$out/unigram.json") lc rgb '#d94801' dt 2 title 'by frequency alone, held out'"
}

finetuning() {
	local log name n=0 plots=
	for log in "$out"/sentiment/seed-*/log.jsonl "$out"/sentiment-random/seed-*/log.jsonl; do
		case $log in
		"$out"/sentiment/*) name="pre-trained, $(basename "$(dirname "$log")")" ;;
		*) name="random weights" ;;
		esac
		n=$((n + 1))
		block "run$n" "$log" average_loss || return
		plots+="${plots:+, }\$run$n smooth sbezier with lines lw 1.5 title '$name'"
	done
	block rate "$log" learning_rate || return
	panels "$plots"
}

"$kind" | gnuplot
