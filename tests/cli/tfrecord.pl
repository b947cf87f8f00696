#!/usr/bin/env perl
# tfrecord.pl FILE: the records of a TFRecord file of tf.Examples as JSON lines, keys sorted; checks lengths, not sums.
use strict;
use warnings;

sub varint {
	my ($bytes, $at) = @_;
	my ($v, $shift) = (0, 0);
	while (1) {
		my $b = ord substr($$bytes, $$at++, 1);
		$v |= ($b & 127) << $shift;
		$shift += 7;
		return $v if $b < 128;
	}
}

# The fields of a message, all of them of wire type 2: pairs of number and bytes.
sub fields {
	my ($bytes) = @_;
	my ($at, @out) = (0);
	while ($at < length $bytes) {
		my $key = varint(\$bytes, \$at);
		die "wire type " . ($key & 7) if ($key & 7) != 2;
		my $n = varint(\$bytes, \$at);
		die "too long" if $at + $n > length $bytes;
		push @out, [ $key >> 3, substr($bytes, $at, $n) ];
		$at += $n;
	}
	return @out;
}

sub values_of {
	my ($kind, $list) = @{ (fields($_[0]))[0] };
	my $packed = (fields($list))[0][1];
	return map { sprintf "%g", $_ } unpack "f<*", $packed if $kind == 2;
	my ($at, @v) = (0);
	push @v, varint(\$packed, \$at) while $at < length $packed;
	return @v;
}

open my $in, '<:raw', $ARGV[0] or die "$ARGV[0]: $!";
while (read $in, my $head, 12) {
	my $n = unpack "Q<", $head;
	die "cut short" if read($in, my $record, $n) != $n || read($in, my $sum, 4) != 4;
	my %example;
	for my $entry (fields((fields($record))[0][1])) {
		my ($name, $feature) = map { $_->[1] } fields($entry->[1]);
		$example{$name} = '[' . join(',', values_of($feature)) . ']';
	}
	print '{' . join(',', map { "\"$_\":$example{$_}" } sort keys %example) . "}\n";
}
