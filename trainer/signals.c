/* signals.c - signals that ask a training to stop. */
#include "trainer/signals.h"

#include "base/out.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* A handler can reach nothing but what is static. */
static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
	const int kept = errno;

	if (caught) {
		out_remove_unfinished();
		signal(sig, SIG_DFL);
		raise(sig);		/* blocked until this handler returns */
	}
	caught = sig;
	errno = kept;
}

void signals_catch(void)
{
	static const int which[] = { SIGTERM, SIGINT, SIGUSR1 };

	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++) {
		struct sigaction sa;

		if (sigaction(which[i], NULL, &sa) || sa.sa_handler == SIG_IGN)
			continue;
		memset(&sa, 0, sizeof(sa));
		sa.sa_handler = on_signal;
		sa.sa_flags = SA_RESTART;
		sigemptyset(&sa.sa_mask);
		sigaction(which[i], &sa, NULL);
	}
}

int signals_caught(void)
{
	return caught;
}
