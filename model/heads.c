/* heads.c - the kinds of model. */
#include "model/heads.h"

#include <string.h>

const struct head_info head_infos[HEAD_COUNT] = {
	[HEAD_NONE] = { "none", "BertModel", .pooler = true },
	[HEAD_PRETRAINING] = { "pretraining", "BertForPreTraining", .pooler = true, .mlm = true,
			       .scores = "cls.seq_relationship" },
	[HEAD_MLM] = { "mlm", "BertForMaskedLM", .mlm = true },
	[HEAD_NSP] = { "nsp", "BertForNextSentencePrediction", .pooler = true, .scores = "cls.seq_relationship" },
	[HEAD_CLASSIFY] = { "classify", "BertForSequenceClassification", .pooler = true, .scores = "classifier",
			    .dropout = true, .labels = true },
	[HEAD_SPAN] = { "span", "BertForQuestionAnswering", .scores = "qa_outputs", .per_token = true },
	[HEAD_TOKENS] = { "tokens", "BertForTokenClassification", .scores = "classifier", .per_token = true,
			  .dropout = true, .labels = true },
};

enum head head_of_architecture(const char *name)
{
	for (int h = 0; h < HEAD_COUNT; h++)
		if (!strcmp(name, head_infos[h].architecture))
			return (enum head)h;
	return HEAD_UNSAID;
}
