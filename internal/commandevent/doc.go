// Package commandevent makes the event of a command that ran: from what the caller says, the
// environment and the directory, with secrets redacted.
package commandevent
