#include "corpus/book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define HEAD "The Project Gutenberg EBook of A Tale, by N. N.\r\n\r\nTitle: A Tale\r\n       of Two\r\n\r\nAuthor: N. N.\r\n\r\n" \
	"Release Date: 1 May [EBook #42]\r\nCharacter set encoding: UTF-8\r\n\r\n*** START OF THIS PROJECT GUTENBERG EBOOK A TALE ***\r\n\r\n" \
	"Produced by A. and B.\r\n\r\n\r\nA TALE\r\n\r\nby\r\n\r\nN. N.\r\n\r\n"
#define ONE "It was a day like any other in the little town by the\r\nsea, and nobody thought of what was to come.\r\n\r\n"
#define TWO "On the next day the sea was gone, and with it all of\r\nthe boats, the nets and the fishes too.\r\n\r\n"
#define ONE_TEXT "It was a day like any other in the little town by the sea, and nobody thought of what was to come.\n"
#define TWO_TEXT "On the next day the sea was gone, and with it all of the boats, the nets and the fishes too.\n"
#define TAIL "\r\nTHE END\r\n\r\nEnd of the Project Gutenberg EBook of A Tale\r\n\r\n*** END OF THIS PROJECT GUTENBERG EBOOK A TALE ***\r\nlicence\r\n"

/* All documents of a book: "title: text", "---" between them. */
static void read_book(const char *bytes, size_t len, bool headings, bool chapters, struct buf *out)
{
	struct buf title = BUF_INIT, text = BUF_INIT;
	struct book book;
	int rc;

	assert_int_equal(book_open(&book, bytes, len), 0);
	assert_int_equal(buf_add(out, "", 0), 0);
	while ((rc = book_next(&book, headings, chapters, &title, &text)) > 0)
		assert_int_equal(buf_addf(out, "[%s]\n%s", title.len ? title.data : "", text.data), 0);
	assert_int_equal(rc, 0);
	book_close(&book);
	buf_release(&title);
	buf_release(&text);
}

static void expect(const char *bytes, bool headings, bool chapters, const char *want)
{
	struct buf out = BUF_INIT;

	read_book(bytes, strlen(bytes), headings, chapters, &out);
	assert_string_equal(out.data, want);
	buf_release(&out);
}

static void the_licence_is_left_out(void **state)
{
	struct book book;

	(void)state;
	expect(HEAD ONE TWO TAIL, false, false, "[A Tale of Two]\n" ONE_TEXT TWO_TEXT);
	expect("*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\n" ONE "End of Project Gutenberg Etext of A\nx", false, false, "[]\n" ONE_TEXT);
	expect("***START OF THE PROJECT GUTENBERG EBOOK A***\n" ONE "***END OF THE PROJECT GUTENBERG EBOOK A***\nx", false, false, "[]\n" ONE_TEXT);
	expect("*** START OF THIS PROJECT GUTENBERG EBOOK A,\nBY B ***\n" ONE, false, false, "[]\n" ONE_TEXT);
	expect(ONE TWO, false, false, "[]\n" ONE_TEXT TWO_TEXT);
	expect("", false, false, "");
	expect("\xEF\xBB\xBF" ONE, false, false, "[]\n" ONE_TEXT);
	assert_int_equal(book_open(&book, HEAD, strlen(HEAD)), 0);
	assert_int_equal(book.id.len, 2);
	assert_memory_equal(book.id.data, "42", 2);
	book_close(&book);
}

static void paragraphs_are_joined_and_cleaned(void **state)
{
	(void)state;
	expect("a _very\nlong_ day--\nlonger still—\nand snake_case, ____ too\n\n  *  *  *\n\n[Illustration: a boat]\n\nb [Pg 12] c\n", false, false,
	       "[]\na very long day--longer still—and snake_case, ____ too\nb c\n");
	expect("verse one\n  verse two\n\n \t\n\nnext", false, false, "[]\nverse one verse two\nnext\n");
}

static void chapters_are_cut(void **state)
{
	static const char book[] = HEAD "CONTENTS\n\nChapter I. The Day\n\nChapter II. The Next\n\n" "Chapter I. The Day\n\n" ONE "Chapter II. The Next\n\n" TWO TAIL;

	(void)state;
	expect(book, false, false, "[A Tale of Two]\n" ONE_TEXT TWO_TEXT);
	expect(book, true, false, "[A Tale of Two]\nChapter I. The Day\n" ONE_TEXT "Chapter II. The Next\n" TWO_TEXT);
	expect(book, false, true, "[A Tale of Two, Chapter I. The Day]\n" ONE_TEXT "[A Tale of Two, Chapter II. The Next]\n" TWO_TEXT);
	expect("BOOK ONE\n\nI\n\n" ONE "II\n\n" TWO, false, true, "[BOOK ONE, I]\n" ONE_TEXT "[II]\n" TWO_TEXT);
}

static void headings_are_known(void **state)
{
	static const char *const yes[] = { "CHAPTER I", "CHAPTER IV. Of Cabbages", "Chapter 12", "Chapter the Last", "Book the First", "PART TWO", "VOLUME III",
		"LETTER 4.", "BOOK ONE: 1805", "XII", "XII.", "IV. The Thing", "3 THE AUDIENCE", "PREFACE", "Epilogue.", "Chapter Twenty-One", "17" };
	static const char *const no[] = { "I am.", "I. am a sentence.", "Chapter and verse", "CIVIL", "IIII", "Part of it", "chapter 1", "Preface to a thing", "1000",
		"12 men came", "Mix", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!book_is_heading(span_of(yes[i]), 1))
			fail_msg("no heading: %s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (book_is_heading(span_of(no[i]), 1))
			fail_msg("a heading: %s", no[i]);
	assert_false(book_is_heading(SPAN("CHAPTER I"), 4));
}

static void old_encodings_are_read(void **state)
{
	struct book book;

	(void)state;
	expect("Character set encoding: ISO-8859-1\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nCaf\xE9 \x93quoted\x94", false, false, "[]\nCafé “quoted”\n");
	expect("Character set encoding: ASCII\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nCaf\xE9", false, false, "[]\nCafé\n");
	expect("Caf\xE9 au lait", false, false, "[]\nCaf\xEF\xBF\xBD au lait\n");
	assert_int_equal(book_open(&book, "a\xFF" "b\xFE", 4), 0);
	assert_int_equal(book.repaired, 2);
	book_close(&book);
}

static void books_are_told_from_text(void **state)
{
	(void)state;
	assert_true(book_begins(SPAN("The Project Gutenberg EBook of X")));
	assert_true(book_begins(SPAN("\xEF\xBB\xBF\r\nProject Gutenberg's X")));
	assert_false(book_begins(SPAN("A text on Project Gutenberg")));
	assert_true(book_has_mark(SPAN("x\r\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***\r\n")));
	assert_false(book_has_mark(SPAN("x\nSTART OF THIS PROJECT GUTENBERG EBOOK\n")));
	assert_false(book_has_mark(SPAN("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_licence_is_left_out),
		cmocka_unit_test(paragraphs_are_joined_and_cleaned),
		cmocka_unit_test(chapters_are_cut),
		cmocka_unit_test(headings_are_known),
		cmocka_unit_test(old_encodings_are_read),
		cmocka_unit_test(books_are_told_from_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
