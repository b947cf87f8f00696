#!/usr/bin/env bash
# The whole chain on a small corpus, as a user would pipe it; then the same with every stage killed on
# its way and run again: the same bytes. Speaks TAP.
set -u
. "${TOP:?}/tests/tap.sh"

killed() {	# killed SECONDS COMMAND...: begins it and kills it after so long, if it still runs
	(timeout --foreground -s KILL "$@" & wait $!) >/dev/null 2>&1
	return 0
}
same() { cmp "$1" "$2"; }
digests() { (cd "$1" && sha256sum ./*.shard manifest.json vocab.txt); }
same_shards() { diff <(digests "$1") <(digests "$2"); }
whole() {	# every visible shard of a killed run is whole
	local f
	for f in "$1"/*.shard; do
		[ -e "$f" ] || continue
		bert-cat "$f" >/dev/null || return 1
	done
}

dump=$(echo "$TOP"/pipelines/demo/data/*.xml.bz2)
book=$TOP/pipelines/demo/data/alice.txt.zst

# One pipe from a raw dump and a book to a folder of shards.
pipe() {
	{ bert-extract "$dump" && bert-extract --from gutenberg --chapters "$book"; } | bert-sentences > text.txt &&
		bert-split --split held=0.05 -o split text.txt &&
		bert-vocab --size 3000 split/train.txt > vocab.txt &&
		bert-tokenize --vocab vocab.txt --to docs split/train.txt | bert-shard --vocab vocab.txt --shards 3 --dupe-factor 2 -o straight &&
		bert-verify straight
}
ok "a dump and a book through one pipe to verified shards" pipe
ok "both splits hold documents" test -s split/held.txt -a -s split/train.txt
ok "the splits hold every document once" same <(cat split/held.txt split/train.txt | grep . | sort) <(grep . text.txt | sort)
ok "bert-stat counts what bert-cat prints" test "$(bert-stat straight | jq .instances)" = "$(bert-cat straight | wc -l)"
ok "shards from text = shards from token documents" eval 'bert-shard --vocab vocab.txt --shards 3 --dupe-factor 2 -o from-text split/train.txt && (cd straight && sha256sum *.shard) | (cd from-text && sha256sum -c --quiet)'

for s in 0.02 0.05 0.1 0.2 0.4; do killed $s bert-extract -o killed.par "$dump"; [ ! -e killed.par ] || break; done
bert-extract -o killed.par "$dump"
bert-extract "$dump" > straight.par
ok "bert-extract killed and run again" same killed.par straight.par
for s in 0.01 0.03 0.1; do killed $s bert-vocab --size 3000 -o killed.vocab split/train.txt; [ ! -e killed.vocab ] || break; done
bert-vocab --size 3000 -o killed.vocab split/train.txt
ok "bert-vocab killed and run again" same killed.vocab vocab.txt
for s in 0.01 0.02 0.04 0.06 0.08 0.1 0.15 0.2 0.3; do
	killed $s bert-shard --vocab vocab.txt --shards 3 --dupe-factor 2 -o killed split/train.txt
	ok "bert-shard killed after $s s: what is visible is whole" whole killed
done
ok "bert-shard run again after the kills" bert-shard --vocab vocab.txt --shards 3 --dupe-factor 2 -o killed split/train.txt
ok "killed and run again = straight" same_shards killed from-text
ok "nothing but the work is left" test -z "$(find killed -name '.*' ! -name . | head -n 1)"
ok "another seed gives other shards" eval 'bert-shard --seed 1 --vocab vocab.txt --shards 3 --dupe-factor 2 -o other split/train.txt && ! same_shards other from-text'
echo "1..$n"
