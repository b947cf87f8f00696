/*
 * class_objective.h - what the tuning of a classifier minimizes: the cross-entropy of each sequence's class.
 */
#ifndef FINETUNE_CLASS_OBJECTIVE_H
#define FINETUNE_CLASS_OBJECTIVE_H

#include "trainer/objective.h"

/* Of HEAD_CLASSIFY with one label a sequence. Logs have "classification_loss" and "accuracy". */
extern const struct objective objective_classification;

#endif
