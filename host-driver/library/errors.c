// SPDX-License-Identifier: BSD-3-Clause
/* Sentences about what went wrong. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "card.h"

/* Of meridian_open(), by thread: there is no card that could have it. */
static _Thread_local char open_text[512];

/* Keeps the sentence, and returns the error. */
int meridian_say(struct meridian *card, int error, const char *format, ...)
{
	int length = snprintf(card->text, sizeof(card->text), "%s: ", card->name);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(card->text + length, sizeof(card->text) - (size_t)length, format, arguments);
	va_end(arguments);
	return error;
}

/* The same while there is no card. */
int meridian_say_open(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(open_text, sizeof(open_text), format, arguments);
	va_end(arguments);
	return error;
}

EXPORTED int meridian_no_card(int error, const char *sentence)
{
	return meridian_say_open(error, "%s", sentence);
}

EXPORTED const char *meridian_error(const struct meridian *card)
{
	return card ? card->text : open_text;
}

/* What a command to the contexts ended with, in words. */
int meridian_queue_failed(struct meridian *card, int error)
{
	if (error == -ENODEV)
		return meridian_say(card, error, "the card is gone");
	return meridian_say(card, error, "the card does not end a command to its contexts: reset it, and look whether another program uses it");
}
