// Package look answers one question from everything that Recount knows: commands, symbols of the
// code, operations of services, and what agents said and did. The question of each kind finds its
// hits (commands.Find, code.Symbols, runtime.TrafficOf, evidence.Ask); this package ranks all of
// them together.
//
// The scores of the kinds are in measures of their own: sums of inverse document frequencies over
// different collections, kinds of matches, shares of a best hit. They order the hits of one kind and
// say nothing about those of another. So each hit is also compared with the words of the text, in
// the same way for every kind (fit.go): which share of the text's words it has, where a word counts
// the more the fewer of all hits have it. The score is a weighted sum (fusion.Weighted) of this share,
// of how much of the hit's title was asked for, of its standing among the hits of its kind, and of
// whether the text names its kind ("which command …"). It is from 0 to 1 for every text.
//
// A hit is sure if it has enough of the text's words. An answer whose first hit is not sure looks
// unsure: Response.Sure is false.
//
// The answer depends on the text and on what the principal may see. A kind that the principal may not
// see, that this server does not keep, or that cannot satisfy a filter is left out, and the answer
// says so.
package look
