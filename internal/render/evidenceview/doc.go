// Package evidenceview draws evidence of what agents said and did: each hit with who said it, what
// led to it, what took its place and who says otherwise.
package evidenceview
