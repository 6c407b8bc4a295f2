@node "%~dp0weft" %*
