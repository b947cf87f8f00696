#!/usr/bin/perl
# Text of many scripts, for the tokenizer's benchmark: many-scripts.pl MEGABYTES < LINES > TEXT
# Each line given, in whatever language, becomes a language of its own: 4,000 words are made by its pairs of characters, of which
# few are frequent and most are rare, as in real ones. Sentences, ten a document, a blank line after each.
use strict;
use warnings;
use open qw(:std :encoding(UTF-8));

srand(1);
my $bytes = $ARGV[0] * 1e6;
my @languages;

sub word {
	my ($follow) = @_;
	my ($word, $c) = ('', '');
	while (length($word) < 24) {
		my $choice = $follow->{$c};
		$c = $choice->[rand @$choice];
		last if $c eq '';
		$word .= $c;
	}
	return $word;
}

while (my $line = <STDIN>) {
	my @words = grep { /^\p{L}[\p{L}\p{M}]+$/ } split ' ', $line;
	next if @words < 3 && length($line) < 20;
	my %follow;
	for my $w (@words ? @words : grep { length } split /[^\p{L}\p{M}]+/, $line) {
		my $last = '';
		for my $c (split //, $w) {
			push @{$follow{$last}}, $c;
			$last = $c;
		}
		push @{$follow{$last}}, '';
	}
	next unless $follow{''};
	push @languages, [map { word(\%follow) } 1 .. 4000];
}
for (my ($written, $n) = (0, 0); $written < $bytes; $n++) {
	my $words = $languages[rand @languages];
	for my $sentence (1 .. 10) {
		my $text = join(' ', map { $words->[exp(rand(log 4000)) - 1] } 1 .. 5 + rand 20) . ".\n";
		$written += do { use bytes; length $text };
		print $text;
	}
	print "\n";
	$written++;
}
