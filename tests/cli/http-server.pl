#!/usr/bin/perl
# A small HTTP server for tests, with faults: http-server.pl FOLDER
#
# Serves the files of FOLDER on a free port of loopback, one request at a time: whole and by range
# (If-Range too), with ETag and Last-Modified. Prints the port on standard output, and to
# FOLDER/.log a line for each request: "PATH STATUS FROM SENT" (FROM: where the range begins, 0 for the whole).
#
# FOLDER/.faults holds lines "PATH FAULT [N]" that are read anew at every request:
#   cut N          breaks off after N bytes of the body
#   stall N        sends no more after N bytes, and waits until the client has gone
#   status N       answers with status N (and Retry-After: 0, for 429 and 503)
#   once-status N  the same for the first request of the path only
#   no-range       ignores ranges
#   bad-range      answers a range by another one
#   no-tag         neither ETag nor Last-Modified
#   weak-tag       an ETag that is weak, no Last-Modified
#   long N         says that the body is N bytes longer than it is
#   no-length      does not say how long it is
#   redirect       to PATH.moved
use strict;
use warnings;
use IO::Socket::INET;

my $folder = shift @ARGV or die "usage: http-server.pl FOLDER\n";
my %seen;
$SIG{PIPE} = 'IGNORE';
$| = 1;

sub faults {
	my ($path) = @_;
	my %f;
	open my $h, '<', "$folder/.faults" or return %f;
	while (<$h>) {
		chomp;
		my ($of, $fault, $n) = split;
		$f{$fault} = $n // 1 if defined $fault && $of eq $path;
	}
	return %f;
}

sub note {
	open my $h, '>>', "$folder/.log" or die "no log: $!";
	print $h join(' ', @_), "\n";
	close $h;
}

sub read_head {
	my ($c) = @_;
	my ($request, %head) = (scalar(<$c>) // '');
	while (defined(my $line = <$c>)) {
		$line =~ s/\r?\n//;
		last if $line eq '';
		$head{lc $1} = $2 if $line =~ /^([^:]+):\s*(.*)$/;
	}
	return ($request =~ m{^GET (\S+) HTTP}, %head);
}

sub http_date {
	my @t = gmtime shift;
	my @days = qw(Sun Mon Tue Wed Thu Fri Sat);
	my @months = qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec);
	return sprintf '%s, %02d %s %d %02d:%02d:%02d GMT', $days[$t[6]], $t[3], $months[$t[4]], $t[5] + 1900, @t[2, 1, 0];
}

sub answer {
	my ($c, $path, $status, $from, $fields, $body, %f) = @_;
	my $send = $body;
	$send = substr $body, 0, $f{cut} if defined $f{cut};
	$send = substr $body, 0, $f{stall} if defined $f{stall};
	push @$fields, 'Content-Length: ' . (length($body) + ($f{long} // 0)) unless $f{'no-length'};
	print $c "HTTP/1.1 $status X\r\n", map({ "$_\r\n" } @$fields, 'Connection: close'), "\r\n", $send;
	$c->flush;
	note($path, $status, $from, length $send);
	if (defined $f{stall}) {
		my $rest;
		1 while sysread $c, $rest, 100;
	}
}

sub serve {
	my ($c) = @_;
	my ($path, %head) = read_head($c);
	return unless defined $path;
	my %f = faults($path);
	my $status = $f{status};
	$status //= $f{'once-status'} if !$seen{$path}++;
	$status //= 302 if $f{redirect};
	my $file = "$folder$path";
	$status //= 404 unless -f $file;
	if (defined $status) {
		my @fields = $status == 302 ? ("Location: $path.moved") : $status =~ /^(429|503)$/ ? ('Retry-After: 0') : ();
		return answer($c, $path, $status, 0, \@fields, "this is no file\n");
	}
	open my $h, '<:raw', $file or die "$file: $!";
	my $body = do { local $/; <$h> } // '';
	my @st = stat $h;
	my ($tag, $date) = (sprintf('"%x-%x"', $st[7], $st[9]), http_date($st[9]));
	my @fields = $f{'no-tag'} ? () : $f{'weak-tag'} ? ("ETag: W/$tag") : ("ETag: $tag", "Last-Modified: $date");
	my $from = !$f{'no-range'} && ($head{range} // '') =~ /^bytes=(\d+)-$/ ? $1 : 0;
	my $if = $head{'if-range'} // $tag;
	$from = 0 if $f{'no-tag'} ? defined $head{'if-range'} : $if ne $tag && $if ne $date;
	return answer($c, $path, 416, $from, ['Content-Range: bytes */' . length $body], '') if $from && $from >= length $body;
	return answer($c, $path, 200, 0, \@fields, $body, %f) unless $from;
	my $first = $from + ($f{'bad-range'} ? 1 : 0);
	push @fields, "Content-Range: bytes $first-" . (length($body) - 1) . '/' . length $body;
	answer($c, $path, 206, $from, \@fields, substr($body, $first), %f);
}

my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 5, ReuseAddr => 1) or die "no socket: $!";
print $server->sockport, "\n";
while (my $c = $server->accept) {
	binmode $c;
	eval { serve($c); 1 } or note('died', $@);
	close $c;
}
