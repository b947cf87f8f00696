#include "corpus/wiki_math.h"

#include "corpus/wiki_raise.h"

#include <ctype.h>
#include <stdlib.h>

#define TEX_MAX 160	/* longer formulas are no part of a sentence */
#define DEPTH_MAX 4

struct command {
	const char *name, *text;
};

/* Sorted. Commands that are their own names (functions, text) stand for themselves. */
static const struct command commands[] = {
	{ "Delta", "Δ" }, { "Gamma", "Γ" }, { "Lambda", "Λ" }, { "Leftrightarrow", "⇔" }, { "Omega", "Ω" }, { "Phi", "Φ" },
	{ "Pi", "Π" }, { "Psi", "Ψ" }, { "R", "ℝ" }, { "Rightarrow", "⇒" }, { "Sigma", "Σ" }, { "Theta", "Θ" },
	{ "alpha", "α" }, { "approx", "≈" }, { "arccos", "arccos" }, { "arcsin", "arcsin" }, { "arctan", "arctan" },
	{ "ast", "*" }, { "beta", "β" }, { "boldsymbol", "" }, { "bullet", "•" }, { "cap", "∩" }, { "cdot", "·" },
	{ "cdots", "..." }, { "chi", "χ" }, { "circ", "°" }, { "cong", "≅" }, { "cos", "cos" }, { "cup", "∪" },
	{ "deg", "deg" }, { "delta", "δ" }, { "det", "det" }, { "dim", "dim" }, { "displaystyle", "" }, { "dots", "..." },
	{ "ell", "ℓ" }, { "emptyset", "∅" }, { "epsilon", "ε" }, { "equiv", "≡" }, { "eta", "η" }, { "exists", "∃" },
	{ "exp", "exp" }, { "forall", "∀" }, { "gamma", "γ" }, { "gcd", "gcd" }, { "ge", "≥" }, { "geq", "≥" },
	{ "gg", "≫" }, { "hbar", "ħ" }, { "in", "∈" }, { "infty", "∞" }, { "iota", "ι" }, { "kappa", "κ" },
	{ "lambda", "λ" }, { "land", "∧" }, { "langle", "⟨" }, { "lbrace", "{" }, { "lceil", "⌈" }, { "ldots", "..." },
	{ "le", "≤" }, { "left", "" }, { "leftrightarrow", "↔" }, { "leq", "≤" }, { "lfloor", "⌊" }, { "ll", "≪" },
	{ "ln", "ln" }, { "lnot", "¬" }, { "log", "log" }, { "lor", "∨" }, { "mapsto", "↦" }, { "mathbb", "" },
	{ "mathbf", "" }, { "mathcal", "" }, { "mathit", "" }, { "mathrm", "" }, { "mathsf", "" }, { "max", "max" },
	{ "mid", "|" }, { "min", "min" }, { "mod", "mod" }, { "mp", "∓" }, { "mu", "μ" }, { "nabla", "∇" }, { "ne", "≠" },
	{ "neg", "¬" }, { "neq", "≠" }, { "not", "¬" }, { "notin", "∉" }, { "nu", "ν" }, { "omega", "ω" },
	{ "operatorname", "" }, { "oplus", "⊕" }, { "otimes", "⊗" }, { "partial", "∂" }, { "phi", "φ" }, { "pi", "π" },
	{ "pm", "±" }, { "prime", "′" }, { "propto", "∝" }, { "psi", "ψ" }, { "qquad", " " }, { "quad", " " },
	{ "rangle", "⟩" }, { "rbrace", "}" }, { "rceil", "⌉" }, { "rfloor", "⌋" }, { "rho", "ρ" }, { "right", "" },
	{ "rightarrow", "→" }, { "rm", "" }, { "scriptstyle", "" }, { "setminus", "∖" }, { "sigma", "σ" }, { "sim", "~" },
	{ "sin", "sin" }, { "star", "⋆" }, { "subset", "⊂" }, { "subseteq", "⊆" }, { "tan", "tan" }, { "tau", "τ" },
	{ "text", "" }, { "textbf", "" }, { "textit", "" }, { "textrm", "" }, { "textstyle", "" }, { "theta", "θ" },
	{ "times", "×" }, { "to", "→" }, { "upsilon", "υ" }, { "varepsilon", "ε" }, { "varphi", "φ" }, { "vert", "|" },
	{ "wedge", "∧" }, { "xi", "ξ" }, { "zeta", "ζ" },
};

static int formula(struct span tex, unsigned depth, struct buf *b);

static int compare_command(const void *key, const void *item)
{
	const struct span *s = key;
	const char *name = ((const struct command *)item)->name;
	const size_t n = strlen(name);
	const int order = memcmp(s->text, name, s->len < n ? s->len : n);

	return order ? order : (s->len > n) - (s->len < n);
}

/* The next argument, "{group}" or one character, taken off *TEX; false when there is none. */
static bool argument(struct span *tex, struct span *arg)
{
	size_t depth = 0, i = 0;

	while (tex->len && tex->text[0] == ' ')
		*tex = span_skip(*tex, 1);
	if (!tex->len || tex->text[0] == '\\' || tex->text[0] == '}')
		return false;
	do {
		depth += tex->text[i] == '{';
		depth -= tex->text[i] == '}';
		i++;
	} while (depth && i < tex->len);
	if (depth)
		return false;
	while (i < tex->len && ((unsigned char)tex->text[i] & 0xC0) == 0x80)	/* the rest of a character */
		i++;
	*arg = tex->text[0] == '{' ? (struct span){ tex->text + 1, i - 2 } : (struct span){ tex->text, i };
	*tex = span_skip(*tex, i);
	return true;
}

static bool is_word(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!isalnum((unsigned char)s.text[i]))
			return false;
	return s.len > 0;
}

/* An argument within a larger formula: in brackets unless it is one word. */
static int operand(struct span arg, unsigned depth, struct buf *b)
{
	const bool word = is_word(span_trim(arg));
	int rc;

	if (!word && buf_add_byte(b, '('))
		return -1;
	rc = formula(arg, depth, b);
	if (rc)
		return rc;
	return word ? 0 : buf_add_byte(b, ')');
}

static int fraction(struct span *tex, unsigned depth, struct buf *b)
{
	struct span above, below;
	int rc;

	if (!argument(tex, &above) || !argument(tex, &below))
		return 1;
	rc = operand(above, depth, b);
	if (rc || buf_add_byte(b, '/'))
		return rc ? rc : -1;
	return operand(below, depth, b);
}

static int command(struct span *tex, unsigned depth, struct buf *b)
{
	struct span name = span_skip(*tex, 1), arg;
	const struct command *c;
	size_t n = 0;

	while (n < name.len && isalpha((unsigned char)name.text[n]))
		n++;
	if (!n) {
		const char sign = name.len ? name.text[0] : '\\';

		*tex = span_skip(name, 1);
		if (memchr(",;:! ", sign, 5))
			return sign == '!' ? 0 : buf_add_byte(b, ' ');
		return memchr("{}%$#&_", sign, 7) ? buf_add_byte(b, (unsigned char)sign) : 1;
	}
	name.len = n;
	*tex = span_skip(*tex, 1 + n);
	if (span_is(name, "frac") || span_is(name, "tfrac") || span_is(name, "dfrac"))
		return fraction(tex, depth, b);
	if (span_is(name, "sqrt"))
		return argument(tex, &arg) && arg.text[0] != '[' ? (buf_adds(b, "√") ? -1 : operand(arg, depth, b)) : 1;
	c = bsearch(&name, commands, sizeof(commands) / sizeof(commands[0]), sizeof(commands[0]), compare_command);
	return c ? buf_adds(b, c->text) : 1;
}

/* '^' and '_': raised or lowered numbers, else "x^k" and "x_i". */
static int script(struct span *tex, unsigned depth, struct buf *b)
{
	const char sign = tex->text[0];
	struct span arg;

	*tex = span_skip(*tex, 1);
	if (tex->len && tex->text[0] == '\\') {		/* ^\circ, x_\alpha */
		if (!span_starts(*tex, "\\circ") && !span_starts(*tex, "\\prime") && buf_add_byte(b, (unsigned char)sign))
			return -1;
		return command(tex, depth, b);
	}
	if (!argument(tex, &arg))
		return 1;
	arg = span_trim(arg);
	if (wiki_can_raise(arg))
		return wiki_raise(arg, sign == '_', b);
	if (span_starts(arg, "\\circ") || span_starts(arg, "\\prime"))
		return formula(arg, depth, b);
	return buf_add_byte(b, (unsigned char)sign) ? -1 : operand(arg, depth, b);
}

static int formula(struct span tex, unsigned depth, struct buf *b)
{
	if (depth > DEPTH_MAX)
		return 1;
	while (tex.len) {
		const unsigned char c = (unsigned char)tex.text[0];
		int rc = 0;

		if (c == '\\') {
			rc = command(&tex, depth + 1, b);
		} else if (c == '^' || c == '_') {
			rc = script(&tex, depth + 1, b);
		} else {
			if (c == '&' || c == '#')	/* an array's, an entity's */
				return 1;
			if (c != '{' && c != '}')
				rc = buf_add_byte(b, c == '~' || c < ' ' ? ' ' : c);
			tex = span_skip(tex, 1);
		}
		if (rc)
			return rc;
	}
	return 0;
}

/* Takes out spaces that no reader wants, from START on: doubled, at the ends, behind "(" and before ")" or ",". */
static void close_up(struct buf *b, size_t start)
{
	size_t n = start;

	for (size_t i = start; i < b->len; i++) {
		const char c = b->data[i], next = i + 1 < b->len ? b->data[i + 1] : ' ';

		if (c != ' ' || (n > start && b->data[n - 1] != '(' && !strchr(" ),", next)))
			b->data[n++] = c;
	}
	b->len = n;
	b->data[n] = 0;
}

int wiki_math(struct span tex, bool chemical, struct buf *b)
{
	const size_t before = b->len;
	int rc;

	tex = span_trim(tex);
	if (tex.len > TEX_MAX)
		return 1;
	if (!chemical)
		rc = formula(tex, 0, b);
	else
		rc = memchr(tex.text, '\\', tex.len) || memchr(tex.text, '^', tex.len) ? 1 : buf_add(b, tex.text, tex.len);
	if (rc || b->len == before)
		return rc ? rc : 1;
	close_up(b, before);
	return b->len == before;
}
