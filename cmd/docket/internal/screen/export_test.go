package screen

// Encode is what is written for a line.
var Encode = encode
