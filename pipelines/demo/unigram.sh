#!/usr/bin/env bash
# unigram.sh VOCAB DOCS SHARDS: what guessing the masked tokens of SHARDS by frequency alone costs: their
# mean cross-entropy in nats under the counts of the token documents DOCS, each count one larger, so that
# no token of the vocabulary is impossible. A model has to be well below it to have seen any context.
set -u -o pipefail
vocab=$1 docs=$2 shards=$3
{
	bert-cat "$docs" | jq '.sentences[][]' && echo && bert-cat "$shards" | jq '.masked_lm_ids[]'
} | awk -v vocab_size="$(wc -l < "$vocab")" '
	!NF { masked = 1; next }
	!masked { count[$1]++; n++; next }
	{ sum -= log((count[$1] + 1) / (n + vocab_size)); predictions++ }
	END {
		if (!n || !predictions)
			exit 1
		printf "{\"unigram_cross_entropy\": %.6f, \"predictions\": %d}\n", sum / predictions, predictions
	}'
