/*
 * model_dir.h - model directories, as Hugging Face's: config.json, model.safetensors, vocab.txt, tokenizer_config.json.
 *
 *	struct config c = CONFIG_INIT;
 *	struct model m;
 *	struct model_source *s;
 *	if (model_dir_config(&c, "bert-mini", HEAD_UNSAID) ||
 *	    model_init(&m, &k, q, &c, DTYPE_F32))
 *		return -1;
 *	if (model_dir_open(&s, &m, "bert-mini") ||	(s->map says what is mapped, missing, unused)
 *	    model_dir_check(s, &m, false) ||
 *	    model_dir_read(s, &m, seed))		(only now weights are allocated: names and shapes fit)
 *		return -1;
 *	model_dir_close(s);				(accepts NULL)
 *
 *	model_dir_save(&m, "out")			(config.json and model.safetensors)
 *	model_dir_copy_tokenizer("bert-mini", "out")	(the other files)
 *
 * transformers loads what is saved, and what it saves is loaded. Weights may be in
 * F32, F64, BF16 or F16; they are saved in F32.
 */
#ifndef MODEL_MODEL_DIR_H
#define MODEL_MODEL_DIR_H

#include "model/mapping.h"
#include "model/model.h"

#define MODEL_DIR_CONFIG "config.json"
#define MODEL_DIR_WEIGHTS "model.safetensors"

struct model_source {
	struct safetensors *file;
	struct mapping map;
};

/*
 * The config of a folder, with this head; HEAD_UNSAID: the one it names, -1 where
 * it names none. -1 also where vocab.txt has more tokens than the config knows.
 */
int model_dir_config(struct config *c, const char *folder, enum head head);

/*
 * The file's tensors beside the model's parameters; -1 where they do not fit each
 * other (mapping.h). A bare encoder whose file has no pooler becomes one without.
 */
int model_dir_open(struct model_source **s, struct model *m, const char *folder);

/* The same, but the last layer (config_scores) is to be new: what the file has of one, for whatever labels, is passed over. */
int model_dir_open_new_scores(struct model_source **s, struct model *m, const char *folder);
void model_dir_close(struct model_source *s);

/* -1 when a parameter is missing. With NEW_HEAD, one above the encoder may be: it is new then, made from the seed. */
int model_dir_check(const struct model_source *s, const struct model *m, bool new_head);

/* Allocates the model's weights and reads them; what is missing is made from the seed. -1 with the reason set. */
int model_dir_read(const struct model_source *s, struct model *m, uint64_t seed);

/*
 * Writes both files into FOLDER, which is made where it does not exist: each whole or not at all, the
 * weights last. What else stands in it is left alone.
 */
int model_dir_save(const struct model *m, const char *folder);

/* Copies what a tokenizer needs (vocab.txt, tokenizer_config.json and their kin), as far as it is there. */
int model_dir_copy_tokenizer(const char *from, const char *to);

/* Copies one file of FROM, if it is there, to the folder TO, which is there. */
int model_dir_copy_file(const char *from, const char *to, const char *name);

#endif
