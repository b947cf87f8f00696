# bert-fetch: whole, checked, resumed downloads, from files and from a server on loopback with faults.

load helpers
eval "$(declare -f setup | sed '1s/setup/helpers_setup/')"

setup() {
	helpers_setup
	export no_proxy='*'
	mkdir www here
	seq 1 20000 >www/numbers
	cd here || return 1
}

teardown() {
	[ -z "${server-}" ] || kill "$server"
}

serve() {
	perl "$TOP/tests/cli/http-server.pl" ../www >../port 2>../server.err 3>&- &
	server=$!
	for _ in $(seq 1 1000); do
		[ ! -s ../port ] || break
		sleep 0.01
	done
	url=http://127.0.0.1:$(cat ../port)
}

fault() { echo "$*" >>../www/.faults; }
requests() { wc -l <../www/.log; }
sum() { "$1sum" "$2" | cut -d' ' -f1; }

# fetch OPTION...: with short waits.
fetch() { bert-fetch --wait 0.001 "$@"; }

needs_curl() {
	bert-fetch --version | grep -qi "curl [0-9]" || skip "built without curl"
}

@test "a file URL is copied, with its time, and not again" {
	mkdir '../a folder'
	cp -p ../www/numbers '../a folder/the numbers'
	exits 0 bert-fetch -v "file://$PWD/../a%20folder/the%20numbers" -o numbers
	cmp numbers ../www/numbers
	[ "$(stat -c %Y numbers)" = "$(stat -c %Y ../www/numbers)" ]
	says "1 files, 0 of them there already"
	exits 0 bert-fetch -v "file://localhost$PWD/../a%20folder/the%20numbers" -o numbers
	says "1 of them there already"
	[ "$(ls -A)" = numbers ]
}

@test "success is silent; the name is the last part of the URL" {
	exits 0 bert-fetch "file://$PWD/../www/numbers"
	[ -z "$output" ]
	cmp numbers ../www/numbers
}

@test "-C makes the folder; -o goes into it" {
	exits 0 bert-fetch -C a/b "file://$PWD/../www/numbers"
	exits 0 bert-fetch -C a/b -o c/d "file://$PWD/../www/numbers"
	cmp a/b/numbers ../www/numbers
	cmp a/b/c/d ../www/numbers
}

@test "sums: kept when right, exit 3 and nothing left when wrong" {
	for kind in sha256 sha1 md5; do
		exits 0 bert-fetch "--$kind" "$(sum $kind ../www/numbers | tr a-f A-F)" -o $kind "file://$PWD/../www/numbers"
		cmp $kind ../www/numbers
	done
	rm -- *
	exits 3 bert-fetch --sha1 0123456789012345678901234567890123456789 "file://$PWD/../www/numbers"
	says "file://$PWD/../www/numbers"
	says "$(sum sha1 ../www/numbers)"
	nothing_in .
	exits 2 bert-fetch --sha1 0123 "file://$PWD/../www/numbers"
}

@test "a file in place that has the sum is kept without a look at its source" {
	cp ../www/numbers .
	exits 0 bert-fetch -v --md5 "$(sum md5 numbers)" file:///nonexistent/numbers
	says "1 of them there already"
	echo other >numbers
	exits 1 bert-fetch --md5 "$(sum md5 ../www/numbers)" file:///nonexistent/numbers
	exits 0 bert-fetch --md5 "$(sum md5 ../www/numbers)" "file://$PWD/../www/numbers"
	cmp numbers ../www/numbers
}

@test "usage errors" {
	exits 2 bert-fetch
	exits 2 bert-fetch --md5 d41d8cd98f00b204e9800998ecf8427e file:///a file:///b
	exits 2 bert-fetch -o x file:///a file:///b
	exits 2 bert-fetch -o - file:///a
	exits 2 bert-fetch --sha1 da39a3ee5e6b4b0d3255bfef95601890afd80709 --md5 d41d8cd98f00b204e9800998ecf8427e file:///a
	exits 2 bert-fetch --list x file:///a
	exits 2 bert-fetch --wikipedia en
	exits 2 bert-fetch --wikipedia ../x --date latest
	exits 2 bert-fetch --wikipedia en --date today
	exits 2 bert-fetch ftp://127.0.0.1/a
	exits 2 bert-fetch /a/b
	exits 2 bert-fetch http://127.0.0.1/
	exits 2 bert-fetch file:///a/..
	exits 2 bert-fetch file:///a/x file:///b/x
	nothing_in .
}

@test "missing files and folders: exit 1, named" {
	exits 1 bert-fetch file:///nonexistent/a
	says "file:///nonexistent/a"
	exits 1 bert-fetch -o a "file://$PWD"
	exits 1 bert-fetch -o a file:///dev/null
	nothing_in .
}

@test "a full disk: exit 1, and a part for the next try" {
	unshare -rm true 2>/dev/null || skip "no user namespaces here"
	unshare -rm bash -c 'mount -t tmpfs -o size=64k none . && cd . && bert-fetch "file://$1"; rc=$?; ls -A; exit $rc' x "$(realpath ../www/numbers)" >../out 2>&1 && false
	grep -q "No space left on device" ../out
	[ "$(grep -cx numbers ../out)" -eq 0 ]
	grep -qx .numbers.part ../out
}

@test "a list" {
	mkdir ../more
	echo one >../more/one
	echo two >../more/two
	printf '# a comment\n\nfile://%s/../more/one\tsha256:%s\tfirst\nfile://%s/../more/two\t-\tsub/second\r\nfile://%s/../www/numbers' \
		"$PWD" "$(sum sha256 ../more/one)" "$PWD" "$PWD" >../list
	exits 0 bert-fetch --list ../list
	[ "$(cat first sub/second)" = "one
two" ]
	cmp numbers ../www/numbers
	exits 0 bert-fetch -v --list - <../list
	says "3 files, 3 of them there already"
}

@test "bad lists: exit 3, file and line named" {
	bad() {
		printf "$1" >../list
		exits 3 bert-fetch --list ../list
		says "'../list', line $2: "
		says "$3"
	}
	bad 'file:///a\n\nfile:///b\tcrc:12\tb\n' 3 "'crc:12'"
	bad 'file:///a\tmd5:12\n' 1 "'12' is no md5"
	bad 'file:///a\t-\t../a\n' 1 "'../a'"
	bad 'file:///a\t-\t/a\n' 1 "'/a'"
	bad 'file:///a\t-\ta\tb\n' 1 "fields"
	bad 'file:///a\nfile:///b/a\n' 2 "two downloads"
	bad 'file:///a\000b\n' 1 "NUL"
	exits 1 bert-fetch --list ../nonexistent
	nothing_in .
}

@test "http: fetched, with the server's time, and not again" {
	needs_curl
	serve
	touch -d '2001-02-03 04:05:06Z' ../www/numbers
	exits 0 fetch "$url/numbers"
	[ -z "$output" ]
	cmp numbers ../www/numbers
	[ "$(stat -c %Y numbers)" = "$(stat -c %Y ../www/numbers)" ]
	[ "$(ls -A)" = numbers ]
	exits 0 fetch -v "$url/numbers"
	says "1 of them there already"
	echo more >>../www/numbers
	exits 0 fetch "$url/numbers"
	cmp numbers ../www/numbers
}

@test "http: an empty file" {
	needs_curl
	serve
	: >../www/empty
	exits 0 fetch "$url/empty"
	[ -f empty ]
	[ ! -s empty ]
}

@test "http: a sum that differs: exit 3, nothing left" {
	needs_curl
	serve
	exits 3 fetch --sha256 "$(sum sha256 /dev/null)" "$url/numbers"
	says "$url/numbers"
	nothing_in .
}

@test "http: 404 is not tried again, names URL and status, leaves nothing" {
	needs_curl
	serve
	exits 1 fetch --retries 5 "$url/absent"
	says "$url/absent"
	says "404"
	[ "$(requests)" -eq 1 ]
	nothing_in .
}

@test "http: statuses that may pass are tried again, so often as told" {
	needs_curl
	serve
	for code in 500 503 429 408; do
		cp ../www/numbers ../www/n$code
		fault "/n$code" once-status $code
		exits 0 fetch "$url/n$code"
		cmp n$code ../www/numbers
	done
	rm ../www/.log
	fault /numbers status 500
	exits 1 fetch --retries 2 "$url/numbers"
	says "HTTP status 500"
	[ "$(requests)" -eq 3 ]
}

@test "http: a connection that breaks off is resumed where it broke" {
	needs_curl
	serve
	fault /numbers cut 30000
	exits 0 fetch -v --retries 1 "$url/numbers"
	cmp numbers ../www/numbers
	[ "$(requests)" -eq 4 ]
	[ "$(cut -d' ' -f2,3 ../www/.log | tr '\n' ' ')" = "200 0 206 30000 206 60000 206 90000 " ]
	[ "$(ls -A)" = numbers ]
}

@test "http: a body shorter than announced is no success" {
	needs_curl
	serve
	fault /numbers long 10
	fault /numbers no-range
	exits 1 fetch --retries 1 "$url/numbers"
	says "$url/numbers"
	[ ! -e numbers ]
}

@test "http: without ranges it begins anew" {
	needs_curl
	serve
	fault /numbers cut 30000
	exits 1 fetch --retries 0 "$url/numbers"
	[ "$(stat -c %s .numbers.part)" -eq 30000 ]
	echo '/numbers no-range' >../www/.faults
	exits 0 fetch -v --retries 0 "$url/numbers"
	says ", 0 of them from an earlier try"
	cmp numbers ../www/numbers
}

@test "http: a range that is not the one asked for is not taken" {
	needs_curl
	serve
	fault /numbers cut 30000
	exits 1 fetch --retries 0 "$url/numbers"
	echo '/numbers bad-range' >../www/.faults
	exits 0 fetch --retries 0 "$url/numbers"
	cmp numbers ../www/numbers
}

@test "http: cut again and again by a server whose ranges are others: it gives up" {
	needs_curl
	serve
	fault /numbers cut 30000
	fault /numbers bad-range
	exits 1 timeout 60 bert-fetch --wait 0.001 --retries 2 "$url/numbers"
	says "does not go on where the last try stopped"
	[ "$(cut -d' ' -f2,3 ../www/.log | tr '\n' ' ')" = "200 0 206 30000 200 0 206 30000 " ]
	[ ! -e numbers ]
}

@test "http: what has changed since is fetched anew" {
	needs_curl
	serve
	fault /numbers cut 30000
	exits 1 fetch --retries 0 "$url/numbers"
	rm ../www/.faults
	seq 20001 40000 >../www/numbers
	exits 0 fetch --retries 0 "$url/numbers"
	cmp numbers ../www/numbers
}

@test "http: without a tag it is resumed only if there is a sum" {
	needs_curl
	serve
	for tag in no-tag weak-tag; do
		rm -f numbers ../www/.log
		printf '/numbers cut 30000\n/numbers %s\n' $tag >../www/.faults
		exits 1 fetch --retries 0 "$url/numbers"
		echo "/numbers $tag" >../www/.faults
		exits 0 fetch --retries 0 "$url/numbers"
		cmp numbers ../www/numbers
		[ "$(cut -d' ' -f2,3 ../www/.log | tr '\n' ' ')" = "200 0 200 0 " ]
	done
	rm numbers ../www/.log
	printf '/numbers cut 30000\n/numbers no-tag\n' >../www/.faults
	exits 1 fetch --retries 0 --sha1 "$(sum sha1 ../www/numbers)" "$url/numbers"
	echo "/numbers no-tag" >../www/.faults
	exits 0 fetch --retries 0 --sha1 "$(sum sha1 ../www/numbers)" "$url/numbers"
	cmp numbers ../www/numbers
	[ "$(cut -d' ' -f2,3 ../www/.log | tr '\n' ' ')" = "200 0 206 30000 " ]
}

@test "http: a part that is whole already is only put in place" {
	needs_curl
	serve
	fault /numbers cut 30000
	exits 1 fetch --retries 0 "$url/numbers"
	cp ../www/numbers .numbers.part
	rm ../www/.faults
	exits 0 fetch --retries 0 "$url/numbers"
	cmp numbers ../www/numbers
	[ "$(tail -n 1 ../www/.log | cut -d' ' -f2)" -eq 416 ]
}

@test "http: a part of another URL is of no use" {
	needs_curl
	serve
	fault /numbers cut 30000
	exits 1 fetch --retries 0 "$url/numbers"
	seq 5 50000 >../www/other
	exits 0 fetch -o numbers "$url/other"
	cmp numbers ../www/other
}

@test "http: no length, and redirects" {
	needs_curl
	serve
	mv ../www/numbers ../www/n.moved
	fault /n redirect
	fault /n.moved no-length
	exits 0 fetch "$url/n"
	cmp n ../www/n.moved
}

@test "http: an endless redirect and a closed port fail" {
	needs_curl
	serve
	name=/n
	for _ in $(seq 1 12); do
		fault $name redirect
		name+=.moved
	done
	exits 1 fetch --retries 0 "$url/n"
	kill "$server"
	wait "$server" || true
	server=
	exits 1 fetch --retries 1 "$url/numbers"
	says "$url/numbers"
	nothing_in .
}

# wait_for_part BYTES
wait_for_part() {
	for _ in $(seq 1 2000); do
		[ "$(stat -c %s .numbers.part 2>/dev/null || echo 0)" -lt "$1" ] || return 0
		sleep 0.01
	done
	return 1
}

@test "http: killed in the midst of it, it goes on where it was" {
	needs_curl
	serve
	for signal in KILL TERM INT; do
		rm -f numbers ../www/.log
		echo '/numbers stall 40000' >../www/.faults
		perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' bert-fetch "$url/numbers" 3>&- &	# a background job ignores INT
		pid=$!
		wait_for_part 40000
		kill -$signal $pid
		wait $pid || true
		[ ! -e numbers ]
		rm ../www/.faults
		exits 0 fetch -v "$url/numbers"
		says ", 40000 of them from an earlier try"
		cmp numbers ../www/numbers
		[ "$(tail -n 1 ../www/.log)" = "/numbers 206 40000 $(($(stat -c %s numbers) - 40000))" ]
	done
}

@test "http: two at once do not mix" {
	needs_curl
	serve
	fault /numbers stall 40000
	bert-fetch "$url/numbers" 3>&- &
	pid=$!
	wait_for_part 40000
	exits 1 fetch "$url/numbers"
	says "another process"
	kill $pid
	wait $pid || true
}

# dump DATE STATUS: a dump of two parts on the server.
dump() {
	local d=../www/xx_yywiki/$1 n json=
	mkdir -p "$d" ../www/xx_yywiki/latest
	for n in multistream1.xml-p1p9 multistream2.xml-p10p19; do
		echo "$1 $n" | bzip2 >"$d/xx_yywiki-$1-pages-articles-$n.bz2"
		json+="\"xx_yywiki-$1-pages-articles-$n.bz2\":{\"size\":$(stat -c %s "$d/xx_yywiki-$1-pages-articles-$n.bz2"),\"url\":\"/x\",\"sha1\":\"$(sum sha1 "$d/xx_yywiki-$1-pages-articles-$n.bz2")\"},"
	done
	json+="\"xx_yywiki-$1-pages-articles-multistream-index.txt.bz2\":{\"size\":3,\"sha1\":\"0\"}"
	echo "{\"version\":\"0.8\",\"jobs\":{\"articlesmultistreamdump\":{\"status\":\"$2\",\"files\":{$json}}}}" >"$d/dumpstatus.json"
	(cd "$d" && sha1sum -- *.bz2) >../www/xx_yywiki/latest/xx_yywiki-latest-sha1sums.txt
}

@test "wikipedia: a dump's parts by its published sums; a second run fetches no part" {
	needs_curl
	serve
	dump 20010203 done
	exits 0 fetch --mirror "$url" --wikipedia xx-yy --date 20010203
	[ "$(ls -A | wc -l)" -eq 2 ]
	[ "$(bzcat xx_yywiki-20010203-pages-articles-multistream2.xml-p10p19.bz2)" = "20010203 multistream2.xml-p10p19" ]
	rm ../www/.log
	exits 0 fetch -v --mirror "$url" --wikipedia xx-yy --date latest
	says "2 files, 2 of them there already"
	[ "$(grep -c pages-articles ../www/.log)" -eq 0 ]
	[ "$(ls -A | wc -l)" -eq 2 ]
}

@test "wikipedia: a part that is not as published, an unfinished dump, a status that is none" {
	needs_curl
	serve
	dump 20010203 done
	echo more >>../www/xx_yywiki/20010203/xx_yywiki-20010203-pages-articles-multistream2.xml-p10p19.bz2
	exits 3 fetch --mirror "$url" --wikipedia xx-yy --date 20010203
	says multistream2
	dump 20010304 in-progress
	exits 1 fetch --mirror "$url" --wikipedia xx-yy --date 20010304
	says "not finished"
	echo '{"jobs":[' >../www/xx_yywiki/20010304/dumpstatus.json
	exits 3 fetch --mirror "$url" --wikipedia xx-yy --date 20010304
	says "$url/xx_yywiki/20010304/dumpstatus.json"
	exits 1 fetch --mirror "$url" --wikipedia xx-yy --date 20000101
	says 404
	echo nothing >../www/xx_yywiki/latest/xx_yywiki-latest-sha1sums.txt
	exits 3 fetch --mirror "$url" --wikipedia xx-yy --date latest
	[ "$(ls -A)" = xx_yywiki-20010203-pages-articles-multistream1.xml-p1p9.bz2 ]
}

@test "built without curl, http fails in one clear line" {
	bert-fetch --version | grep -qi 'curl [0-9]' && skip "built with curl"
	exits 1 bert-fetch http://127.0.0.1:1/a
	says "built without curl"
}
