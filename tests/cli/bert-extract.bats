# bert-extract: dumps, books, text and JSON lines in, documents out.

load helpers

# Wikitext that got through: brackets, bars, tags, references, quotes, attributes, empty or torn brackets, doubled punctuation.
leftovers='\{\{|\}\}|\[\[|\]\]|\||</?[a-z]|&[a-z]+;|'"''"'|(col|row)span|(style|class|align)=|thumb\||__[A-Z]|\(\)|\( |\([,;]| ,|,,|;;|  | \)|https?:'

dump() { cat "$DATA/man/dump.xml"; }

@test "an article's prose, clean" {
	bert-extract "$DATA/wiki/good-pages.xml.bz2" >out
	[ "$(grep -c '^$' out)" -eq 4 ]
	[ "$(wc -l <out)" -gt 50 ]
	exits 1 grep -nE "$leftovers" out
	grep -q '^The aardwolf (Proteles cristata) is a small, insectivorous mammal' out
	grep -q 'chase the intruder up to 400 m or to the border' out
	grep -q 'a territory of 1–4 km².$' out
	grep -q 'comes from the German word Zahl meaning' out
	grep -q 'Angola had a population of 24.3 million inhabitants in 2014' out
	exits 1 grep -q 'may also refer to' out
}

@test "with lists, tables and headings, clean too" {
	bert-extract --lists --tables --headings --title "$DATA/wiki/good-pages.xml.bz2" >out
	exits 1 grep -nE "$leftovers" out
	grep -qx 'Aardwolf' out
	grep -qx 'Physical characteristics' out
	exits 1 grep -qx 'References' out
	grep -qE '^[0-9]{4}; [0-9 ]+' out
}

@test "namespaces, redirects, colons in titles" {
	dump | bert-extract --title >out
	[ "$(grep -c '^$' out)" -eq 2 ]
	grep -qx 'Elm: a guide' out
	exits 1 grep -q 'tin?' out
}

@test "the same bytes for any number of threads and any packing" {
	bzip2 -dc "$DATA/wiki/good-pages.xml.bz2" >dump.xml
	zstd -q dump.xml
	gzip -k dump.xml
	bert-extract --threads 1 dump.xml dump.xml >want
	[ "$(wc -c <want)" -gt 50000 ]
	bert-extract --threads 4 dump.xml dump.xml | cmp - want
	bert-extract dump.xml.zst dump.xml.gz | cmp - want
	cat dump.xml | bert-extract - dump.xml | cmp - want
}

@test "json lines out and in again" {
	dump | bert-extract --to jsonl >out
	[ "$(wc -l <out)" -eq 2 ]
	grep -q '^{"id": "4", "title": "Elm: a guide", "text": "Elm is a town' out
	bert-extract --title out >text
	dump | bert-extract --title | cmp - text
	bert-extract --from jsonl --to jsonl out | cmp - out
}

@test "books, whole and by chapter" {
	bert-extract "$DATA/man/novel.txt" >out
	[ "$(wc -l <out)" -eq 4 ]
	exits 1 grep -qiE 'gutenberg|_' out
	bert-extract --chapters --to jsonl "$DATA/man/novel.txt" >out
	[ "$(wc -l <out)" -eq 2 ]
	grep -q '^{"id": "35-2", "title": "The Time Machine, II"' out
}

@test "text passes through, tidied" {
	printf '\xef\xbb\xbfone  line\r\nbegin 644 x\r\n \r\n\r\nsecond\x00 document\n' | bert-extract >out
	printf 'one line\nbegin 644 x\n\nsecond document\n\n' | diff - out
}

@test "bad bytes are replaced and told" {
	printf 'a\xff\xfeb\n' >bad
	exits 0 bert-extract -o out bad
	says 'in 2 places'
	printf 'a\xef\xbf\xbd\xef\xbf\xbdb\n\n' | cmp - out
	exits 0 bert-extract -q bad -o out
	[ -z "$output" ]
	dump | sed 's/boiling/boi\xffling/' >bad.xml
	exits 0 bert-extract bad.xml
	says 'boi�ling'
	says 'in 1 place'
}

@test "a dump cut short: named, exit 3, nothing left" {
	dump | head -c 1700 >cut.xml
	mkdir o
	exits 3 bert-extract -o o/out cut.xml
	says "'cut.xml' is cut short"
	says 'offset 1700'
	nothing_in o
	exits 3 bert-extract cut.xml
	says 'A tin kettle is a pot'
	bzip2 -dc "$DATA/wiki/good-pages.xml.bz2" | bzip2 -1 | head -c 15000 >cut.bz2
	exits 3 bert-extract -o o/out cut.bz2
	says "'cut.bz2'"
	nothing_in o
}

@test "damaged XML and other XML: exit 3" {
	dump | sed 's,</title>,</titel>,' >bad.xml
	exits 3 bert-extract bad.xml
	says "'bad.xml' is damaged: mismatched tag at offset"
	echo '<html><body>x</body></html>' >page.html
	exits 3 bert-extract page.html
	says "'page.html' is not a MediaWiki dump"
	printf '<!DOCTYPE a [<!ENTITY b "c">]><mediawiki/>' >bomb.xml
	exits 3 bert-extract bomb.xml
	says 'document type declaration'
}

@test "a line that is not JSON: exit 3, its number" {
	printf '{"text": "a"}\n{"title": "b"}\n' >bad.jsonl
	exits 3 bert-extract bad.jsonl
	says "'bad.jsonl', line 2: no string \"text\""
}

@test "missing and empty files" {
	exits 1 bert-extract no-such-file
	says "'no-such-file'"
	exits 1 bert-extract .
	: >empty
	exits 0 bert-extract empty
	says 'no documents were found'
	exits 3 bert-extract --from mediawiki empty
	says "'empty' is cut short"
	echo '<mediawiki></mediawiki>' >none.xml
	exits 0 bert-extract none.xml
	says 'no documents were found'
}

@test "the report" {
	exits 0 bert-extract --report report.json -o out "$DATA/wiki/good-pages.xml.bz2"
	[ -z "$output" ]
	grep -q '"pages": 5,' report.json
	grep -q '"redirects": 1,' report.json
	grep -q '"documents": 4,' report.json
	grep -q '{"name": "cite journal", "count": [0-9]*}' report.json
	exits 1 grep -q '"name": "convert"' report.json
	bert-extract --threads 1 --report again.json -o out "$DATA/wiki/good-pages.xml.bz2"
	cmp report.json again.json
	exits 1 bert-extract --report /dev/full -o out "$DATA/man/dump.xml"
	says '/dev/full'
}

@test "templates of the user" {
	dump | bert-extract --template 'Town population=some $1' | grep -qx 'Elm is a town of some elm on the River Oak.'
	dump | bert-extract --template 'nowrap=' --template 'town_population=${x|1}' | grep -qx 'Elm is a town of elm on the.'
	exits 2 bert-extract --template nothing "$DATA/man/dump.xml"
	says "'nothing'"
	exits 2 bert-extract --template 'a=[$1' "$DATA/man/dump.xml"
}

@test "the language of the wiki" {
	dump | sed 's/{{town population|elm}}/{{unité|5000|habitants}}/' >dump.xml
	bert-extract dump.xml | grep -qx 'Elm is a town of on the River Oak.'
	bert-extract --lang fr dump.xml | grep -qx 'Elm is a town of 5000 habitants on the River Oak.'
}

@test "parts take each file once" {
	for i in 0 1 2 3 4; do echo "document $i" >f$i; done
	for i in 0 1 2; do bert-extract --part $i/3 f? >part$i; done
	grep -hv '^$' part0 | diff - <(printf 'document 0\ndocument 3\n')
	cat part? | grep -v '^$' | sort | diff - <(printf 'document %d\n' 0 1 2 3 4)
	exits 0 bert-extract --part 5/6 f?
	says 'part 5 has none'
	exits 2 bert-extract --part 0/2 -
	exits 2 bert-extract --part 2/2 f0
}

@test "other formats are refused" {
	exits 2 bert-extract --from html x
	says 'auto|mediawiki|gutenberg|text|jsonl'
}

@test "a full disk" {
	exits 1 bash -c 'bert-extract "$0" >/dev/full' "$DATA/wiki/good-pages.xml.bz2"
	says 'No space left'
}

@test "a report that has no place is told before the work, and one place does not take two things" {
	exits 1 bert-extract --report /nonexistent/folder/report -o out "$DATA/man/dump.xml"
	says "/nonexistent/folder/report"
	[ ! -e out ]
	exits 2 bert-extract --report same -o same "$DATA/man/dump.xml"
	says "text and report would both go to 'same'"
	exits 2 bert-extract --report - "$DATA/man/dump.xml"
	nothing_in same
	bert-extract --report - -o out "$DATA/man/dump.xml" | grep -q '"pages"'
}
