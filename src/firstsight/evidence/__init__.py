"""Why an image is answered as it is: the evidence as data, and pages, pictures and JSON made of it."""
