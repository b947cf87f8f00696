#!/usr/bin/env perl
# A segmenter for the tests: a space wherever the script changes, and inside "unaffable"; ideographic spaces go.
# With an argument it gives nothing before it has read everything.
use strict;
use warnings;
use open qw(:std :encoding(UTF-8));
use utf8;

my @all = @ARGV ? <STDIN> : ();
while (defined(my $line = @ARGV ? shift @all : <STDIN>)) {
	$line =~ s/\x{3000}//g;
	$line =~ s/(?<=\p{sc=Han})(?=\p{sc=Hira}|\p{sc=Kana})|(?<=\p{sc=Hira})(?=\p{sc=Han}|\p{sc=Kana})|(?<=\p{sc=Kana})(?=\p{sc=Han}|\p{sc=Hira})/ /g;
	$line =~ s/unaff(?=able)/unaff /g;
	print $line;
}
