"""Why an image is answered as it is: data, and a sentence. Pages are made of it elsewhere."""
